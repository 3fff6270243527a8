"""`translate --markup` and `--oov` as people run them."""

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.markup import read_markup
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here

LINES = ["a b c x", "", '<n translation="new house">a b</n> c x', "<zone>a b</zone><wall/> d a c 2x", "\\<b> x"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def run(model, lines, *options):
    """(exit status, lines of standard output, standard error)"""
    return translate_here(model, "\n".join(lines).encode(), "--stack", "9", *options)


def test_the_command_reads_markup(model, tmp_path):
    config = tmp_path / "input.yaml"
    config.write_text("input: {markup: exclusive, oov_prefix: '[', oov_suffix: ']'}")
    reading = InputSettings(oov="mark", oov_prefix="[", oov_suffix="]")
    expected = [
        Decoder.load(model, SearchSettings(stack=9), input_settings=reading).translate(read_markup(line, "inclusive"))
        for line in LINES
    ]
    nbest = tmp_path / "nbest"
    options = "--config", str(config), "--markup", "inclusive", "--oov", "mark", "--threads", "2"
    status, lines, errors = run(model, LINES, *options, "--nbest", "2", "--nbest-output", str(nbest))
    assert (status, lines, errors) == (0, [one.text for one in expected], "")
    assert "[x]" in lines[0].split()
    firsts = {line.split(" ||| ")[0]: line.split(" ||| ")[1] for line in reversed(nbest.read_text().splitlines())}
    assert firsts == {str(i): text for i, text in enumerate(lines)}


def test_dropped_words_in_what_is_printed(model, tmp_path):
    nbest = tmp_path / "nbest"
    options = "--oov", "drop", "--distortion-limit", "0", "--segmentation", "--alignment", "--nbest", "1"
    status, lines, errors = run(model, ["x 4x y"], *options, "--nbest-output", str(nbest))
    assert (status, lines, errors.count("\n")) == (0, ["|0-0| 4x |1-1| |2-2| ||| 1-0"], 1)  # a hint
    fields = [field.strip() for field in nbest.read_text().split("|||")]
    assert (fields[1], *fields[-2:]) == ("4x", "0=0 1=0 2=1", "1-0")


def test_mistakes_in_markup_name_the_line(model):
    status, lines, errors = run(model, ["x", "<b>x</b>", "<b>x", "x"], "--markup", "ignore", "--threads", "2")
    assert (status, lines) == (2, ["x", "x"])
    assert errors == (
        "phrasebeam: standard input:3: <b> is not closed, expected </b>; a < that begins no tag is written \\<\n"
    )


@pytest.mark.parametrize(
    ("text", "arguments", "complaint"),
    [
        ("", ("--markup", "xml"), "'--markup'"),
        ("", ("--oov", "keep"), "'--oov'"),
        ("input: {oov: keep}", (), "input.oov: Input should be 'copy', 'drop' or 'mark', found 'keep'"),
        ("input: {oov_prefix: 'UNK '}", (), "input.oov_prefix: String should match pattern"),
        ("input: {makrup: ignore}", (), "input.makrup: unknown key; did you mean markup?"),
    ],
)
def test_mistakes(model, tmp_path, capsys, text, arguments, complaint):
    config = tmp_path / "input.yaml"
    config.write_text(text)
    assert main(["translate", "--model", str(model), "--config", str(config), *arguments]) == 2
    errors = capsys.readouterr().err
    assert complaint in errors
    assert errors.count("\n") == 1
