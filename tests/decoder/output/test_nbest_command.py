"""N-best lists as the command writes them."""

import numpy as np
import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here

LINES = ["a b c x", "", "b d a a", "x", "  c   b ", "a b d s"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def run(model, *options):
    status, lines, errors = translate_here(model, "\n".join(LINES).encode(), *options)
    assert (status, errors) == (0, "")
    return lines


@pytest.mark.parametrize("distinct", [False, True])
def test_the_command_writes_moses_lists(model, tmp_path, distinct):
    decoder = Decoder.load(model, SearchSettings(stack=20))
    options = "--stack", "20", "--nbest", "9", "--alignment", "--segmentation", *["--distinct"] * distinct
    outputs = [
        run(model, *options, "--nbest-output", str(tmp_path / threads), "--threads", threads) for threads in "12"
    ]
    assert outputs[0] == outputs[1] == run(model, "--stack", "20", "--alignment", "--segmentation")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    lines = iter((tmp_path / "1").read_text().splitlines())
    for number, source in enumerate(LINES):
        for expected in decoder.nbest(source, 9, distinct):
            fields = next(lines).split("|||")
            assert all(field.strip() or not source for field in fields)
            index, text, values, score, segmentation, alignment = (field.strip() for field in fields)
            assert (int(index), text) == (number, expected.text)
            names = [value[:-1] for value in values.split() if value.endswith("=")]
            assert names == list(expected.features)
            numbers = [float(value) for value in values.split() if not value.endswith("=")]
            assert numbers == pytest.approx(np.hstack([*expected.features.values()]), rel=1e-5)
            assert float(score) == pytest.approx(expected.score, abs=1e-5)
            spans = [tuple(map(parse_span, pair.split("="))) for pair in segmentation.split()]
            assert spans == [(phrase.source_span, phrase.target_span) for phrase in expected.phrases]
            assert [tuple(map(int, point.split("-"))) for point in alignment.split()] == expected.alignment
    assert next(lines, None) is None


def parse_span(text):
    """(3, 5) of "3-4", (3, 4) of "3"."""
    begin, _, end = text.partition("-")
    return int(begin), int(end or begin) + 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--nbest", "3"), "--nbest and --nbest-output need each other"),
        (("--nbest-output", "list"), "--nbest and --nbest-output need each other"),
        (("--distinct",), "--distinct needs both"),
        (("--nbest", "0", "--nbest-output", "list"), "nbest is 0, expected "),
    ],
)
def test_mistakes(model, tmp_path, monkeypatch, capsys, options, complaint):
    monkeypatch.chdir(tmp_path)
    assert main(["translate", "--model", str(model), *options]) == 2
    output, errors = capsys.readouterr()
    assert (output, errors.count("\n")) == ("", 1)
    assert complaint in errors
    assert not (tmp_path / "list").exists()
