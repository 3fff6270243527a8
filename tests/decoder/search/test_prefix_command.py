"""`translate --prefix` as people run it, and a long input whose translation takes no more memory than a short one's."""

import subprocess
import sys
from dataclasses import replace

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.input.markup import read_markup
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests import ROOT
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here

LINES = ["a b c x", "", '<n translation="new house">a b</n> c x', "<zone>a b</zone><wall/> d a c", "d"]
PREFIXES = ["t ", "u", "new hou", "", "zebra"]
FLAT = 6 << 20  # bytes that thousands of lines may add: some 1,200 each


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def run(model, text, *options):
    """(exit status, lines of standard output, standard error)"""
    return translate_here(model, text.encode(), "--stack", "9", *options)


@pytest.mark.parametrize("is_partial", [False, True])
def test_the_command_completes_prefixes(model, tmp_path, is_partial):
    typed, decoder = tmp_path / "typed", Decoder.load(model, SearchSettings(stack=9))
    typed.write_text("\n".join(PREFIXES) + "\n")
    given = [
        replace(read_markup(line, "exclusive"), prefix=Prefix.read(prefix, is_partial))
        for line, prefix in zip(LINES, PREFIXES)
    ]
    expected = [decoder.translate(one).text for one in given]
    options = ["--prefix", str(typed), "--markup", "exclusive", "--threads", "2", *["--partial-word"] * is_partial]
    status, lines, errors = run(model, "\n".join(LINES), *options)
    assert (status, lines, errors) == (0, expected, "")
    for line, prefix in zip(lines, PREFIXES):
        assert line.startswith(prefix.strip())
    assert lines[2].split()[:2] == (["new", "house"] if is_partial else ["new", "hou"])
    assert lines[0].split()[0] == "t"


@pytest.mark.parametrize(
    ("content", "complaint", "n_translated"),
    [
        (b"t\nu\n", "there are 2 prefixes and more sentences; give one, or an empty line, for each sentence", 2),
        (b"", "there are 0 prefixes and more sentences", 0),
        (b"t\n" * 9, "there are 5 sentences and more prefixes", 5),
        (b"t\n\xff\n", "typed:2: byte 0xff at column 1 is not UTF-8", 1),
    ],
)
def test_prefixes_that_do_not_fit(model, tmp_path, content, complaint, n_translated):
    (tmp_path / "typed").write_bytes(content)
    status, lines, errors = run(model, "\n".join(["a b"] * 5), "--prefix", str(tmp_path / "typed"))
    assert (status, len(lines), errors.count("\n")) == (2, n_translated, 1)
    assert complaint in errors


def test_mistakes(model, tmp_path, capsys):
    for options, complaint in (
        (("--prefix", str(tmp_path / "nowhere")), "nowhere: No such file or directory"),
        (("--partial-word",), "--partial-word needs --prefix; give it as well"),
    ):
        if "nowhere" in complaint:  # read as it is needed, after the first line came in
            status, _, errors = run(model, "a\n", *options)
        else:
            status = main(["translate", "--model", str(model), *options])
            errors = capsys.readouterr().err
        assert (status, errors.count("\n")) == (2, 1)
        assert complaint in errors


PEAK = """
import resource, sys
from phrasebeam.cli import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.needs_jit
def test_many_lines_take_the_memory_of_few(model):
    peaks = []
    options = "--stack", "2", "--table-limit", "1", "--threads", "2"
    assert run(model, "a b\n", *options)[0] == 0  # compiles, which takes memory
    for n in (200, 5000):
        command = [sys.executable, "-c", PEAK, "translate", "--model", str(model), *options]
        text = b"a b\nc x d\n" * (n // 2)
        done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, timeout=120)
        assert (done.returncode, done.stdout.count(b"\n")) == (0, n)
        peaks.append(int(done.stderr) * (1 if sys.platform == "darwin" else 1024))
    assert peaks[1] < peaks[0] + FLAT, peaks
