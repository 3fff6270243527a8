"""`translate --adapt` and `align` as commands: what they write, repeat and refuse."""

import json

import pytest

from phrasebeam.base.files import read_lines
from phrasebeam.cli import main
from phrasebeam.decoder.adaptation.align_text import TextAligner, pharaoh
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from tests.decoder.models import random_toy

SOURCES = ["a b x", "x", "", "c x d"]
CONFIRMED = ["s t neu", "neu", "nothing to learn here", "v neu z"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 1).directory


@pytest.fixture
def folder(tmp_path):
    for name, lines in (("source", SOURCES), ("confirmed", CONFIRMED)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def adapt(model, folder, *more):
    """The status of `translate --adapt` with a journal, its output in `out`."""
    files = ("--input", "source"), ("--output", "out"), ("--adapt", "confirmed"), ("--adapt-journal", "journal")
    given = [text for option, name in files for text in (option, str(folder / name))]
    return main(["translate", "--model", str(model), *given, *map(str, more)])


def expected_of(model, journal=None):
    """Translations of the sentences, each by what was confirmed of those before."""
    decoder = AdaptedDecoder.load(model, journal=journal)
    for source, confirmed in zip(SOURCES, CONFIRMED):
        yield decoder.translate(source).text
        if source:
            decoder.confirm(source, confirmed)


def test_each_line_knows_what_was_confirmed_before(model, folder):
    assert adapt(model, folder) == 0
    found = [*read_lines(folder / "out")]
    assert found == [*expected_of(model)]
    assert "neu" not in found[0] and found[2] == ""
    assert ["neu" in line for line in found[1::2]] == [True, True]
    entries = [json.loads(line.partition(" ")[2]) for line in read_lines(folder / "journal")]
    learned = [(one["source"], one["translation"]) for one in entries if "number" in one]
    assert learned == [(source, confirmed) for source, confirmed in zip(SOURCES, CONFIRMED) if source]


def test_a_second_run_learns_nothing_twice_and_knows_it_all(model, folder):
    assert adapt(model, folder) == 0
    journal = (folder / "journal").read_bytes()
    assert adapt(model, folder) == 0
    assert (folder / "journal").read_bytes() == journal
    assert "neu" in next(iter(read_lines(folder / "out")))


def test_a_journal_alone_is_read(model, folder):
    assert adapt(model, folder) == 0
    known = ["--input", str(folder / "source"), "--output", str(folder / "out")]
    assert main(["translate", "--model", str(model), *known, "--adapt-journal", str(folder / "journal")]) == 0
    decoder = AdaptedDecoder.load(model, journal=folder / "journal")
    assert [*read_lines(folder / "out")] == [decoder.translate(line).text for line in SOURCES]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("confirmed", "s t neu\n", "confirmed: ends after line 1"),
        ("confirmed", "s\nt\nu\nv\nw\n", "confirmed:5: more lines than there are sentences"),
        ("confirmed", b"s\xff\n", "confirmed:1: "),
        ("confirmed", None, "confirmed: No such file"),
        ("journal", "not a journal\n", "journal"),
        ("source", None, "source: No such file"),
    ],
)
def test_bad_files_are_one_line(model, folder, capsys, name, content, said):
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(adapt(model, folder), capsys, said)
    assert not (folder / "out").exists()


@pytest.mark.parametrize("option", [("--threads", 2), ("--engine", "ray")])
def test_options_that_do_not_go_together(model, folder, capsys, option):
    refused(adapt(model, folder, *option), capsys, option[0])


def refused(status, capsys, said):
    error = capsys.readouterr().err
    assert status == 2
    assert error.count("\n") == 1 and said in error, error


def align(model, folder, *more):
    files = ("--source", "source"), ("--target", "confirmed"), ("--output", "links")
    given = [text for option, name in files for text in (option, str(folder / name))]
    return main(["align", "--model", str(model), *given, *map(str, more)])


@pytest.mark.parametrize("more", [(), ("--heuristic", "intersection", "--threads", 2, "--memory", "1G")])
def test_alignment_is_that_of_the_aligner(model, folder, capsys, more):
    assert align(model, folder, *more) == 0
    aligner = TextAligner(open_model(model), more[1] if more else "grow_diag_final_and")
    expected = [aligner.align(*pair) for pair in zip(SOURCES, CONFIRMED)]
    assert [*read_lines(folder / "links")] == [pharaoh(points) for points in expected]
    n_links = sum(map(len, expected))
    assert n_links
    assert capsys.readouterr().out == f"{folder / 'links'}: 4 sentence pairs with {n_links} links\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("confirmed", "s t neu\n", "confirmed: ends after line 1"),
        ("source", "a\n", "source: ends after line 1"),
        ("source", b"a\xff\n", "source:1: "),
        ("source", None, "source: No such file"),
    ],
)
def test_text_that_cannot_be_aligned_is_one_line(model, folder, capsys, name, content, said):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(align(model, folder), capsys, said)
    assert not (folder / "links").exists()
