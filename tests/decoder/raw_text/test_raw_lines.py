"""Raw text that is given as tokens to a model that takes tokens of raw text is told."""

import logging

import pytest
import yaml

from phrasebeam.cli import main
from phrasebeam.decoder.raw_text.raw_lines import looks_raw, warn_of_raw_text
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy


@pytest.mark.parametrize("line", ["Er ging nach Hause.", "Wirklich? Ja!", "Wo ist er?  ", "за́мок."])
def test_raw_lines(line):
    assert looks_raw(line)


@pytest.mark.parametrize("line", ["er ging nach hause .", "", "a", "i .", "das ist z.B.", "1.", "am 3.", "...", "a b"])
def test_tokenized_lines(line):
    assert not looks_raw(line)


def test_few_lines_are_no_reason(caplog):
    warn_of_raw_text("text", ["so etc."] + ["er schläft ."] * 5)
    assert caplog.records == []
    warn_of_raw_text("text", ["Er schläft."] * 2 + ["ja"])
    assert "text: 2 of 3 lines look as if they were not tokenized" in caplog.text


@pytest.fixture
def model(tmp_path):
    """A toy model that says that it was made of raw text."""
    directory = random_toy(tmp_path / "toy", 1).directory
    description = yaml.safe_load((directory / "model.yaml").read_text())
    raw = {"source_language": "de", "target_language": "en", "casing": "keep"}
    (directory / "model.yaml").write_text(yaml.safe_dump(description | {"preprocessing": raw}))
    return directory


def test_decoders_tell_once(model, caplog):
    decoder = Decoder.load(model)
    with caplog.at_level(logging.WARNING):
        decoder.translate("a b c .")
        assert caplog.records == []
        decoder.translate("He said house.")
        decoder.translate("He said house.")
    (record,) = caplog.records
    assert "'He said house.' seems not to be tokenized: the model was made of raw text" in record.getMessage()
    assert "which translate_text takes" in record.getMessage()


def test_commands_tell(model, tmp_path, capsys):
    source = tmp_path / "dev"
    source.write_text("a b house.\n" * 3)
    assert (
        main(
            ["translate", "--model", str(model), "--input", str(source), "--output", str(tmp_path / "out"), "--no-raw"]
        )
        == 0
    )
    assert (
        "3 of 3 sentences look as if they were not tokenized, as the model needs it: give --raw"
        in capsys.readouterr().err
    )
    tune = [
        "tune",
        "--model",
        str(model),
        "--source",
        str(source),
        "--reference",
        str(source),
        "--iterations",
        "1",
        "--no-raw",
    ]
    assert main([*tune, "--output", str(tmp_path / "tuned")]) == 0
    assert f"{source}: 3 of 3 lines look as if they were not tokenized" in capsys.readouterr().err
