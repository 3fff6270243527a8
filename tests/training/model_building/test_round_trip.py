"""What is told of lines that do not come back from tokens, by side."""

import logging

import pytest

from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.training.model_building.round_trip import RoundTrip, tell_round_trips

FRENCH = "Il dit\u00a0: \u00ab\u00a0oui\u00a0\u00bb, l\u2019homme."


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "raw.fr").write_text(f"{FRENCH}\n" * 2 + "Il  dit oui.\n" * 8)
    (tmp_path / "raw.en").write_text("He says so.\n" * 9 + "It\u2019s late.\n")
    return tmp_path / "raw.fr", tmp_path / "raw.en"


def test_both_sides_are_told(raw, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        tell_round_trips(raw, RawTextSettings(source_language="fr", target_language="en"), tmp_path)
    source, target = caplog.records
    assert (source.levelname, target.levelname) == ("WARNING", "INFO")
    assert "source side, raw.fr: 2 of 10 lines (20.0 %) are not restored" in source.getMessage()
    assert "\u00ab" in source.getMessage()
    assert source.getMessage().endswith("choose another than moses (--source-tokenizer)")
    assert "target side, raw.en: 1 of 10 lines (10.0 %)" in target.getMessage()


def test_the_example_is_where_the_first_one_differs(tmp_path):
    class Tokenizer:
        def tokens(self, line):
            return line.split()

        def text(self, tokens):
            return " ".join(tokens).replace("ab", "a b")

    (tmp_path / "text").write_text("  fine \n" + "x" * 50 + "ab" + "y" * 50 + "\nab\n")
    found = RoundTrip.of(tmp_path / "text", Tokenizer())
    assert found == (3, 2, ("x" * 29 + "ab" + "y" * 29, "x" * 29 + "a b" + "y" * 28))
    assert (
        RoundTrip.of(tmp_path / "text", Tokenizer())
        .told("source", tmp_path / "text")
        .startswith("source side, text: 2")
    )
