"""The command select: the files written, the table printed, and one line for each mistake."""

import gzip
import os

import pytest

from phrasebeam.cli import main

pytestmark = pytest.mark.kernels

SOURCE = ["c d", "a b", "", "x y z", "a\u00a0b a b c d", "a b", "d e"]
TARGET = [f"T{number}" if number != 7 else " \t" for number in range(1, 8)]
ALIGNMENT = ["0-0", "1-0", "", "", "2-0 3-0", "0-0", "1-0"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = {"f": SOURCE, "e": TARGET, "align": ALIGNMENT, "few": SOURCE[:-1], "dev": ["a b"], "test": ["", "c d"]}
    text |= {"other": ["q"], "empty": [], "blank": ["", " "] + [""] * 5}
    for name, lines in text.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "f.gz").write_bytes(gzip.compress((tmp_path / "f").read_bytes()))
    (tmp_path / "latin").write_bytes(b"a b\nb\xe9\n")
    (tmp_path / "both.yaml").write_text("{sentences: 3, words: 5}")
    return tmp_path


def call(*arguments):
    given = {"--source": "f", "--target": "e", "--in-domain": "dev", "--output-source": "o.f", "--output-target": "o.e"}
    defaults = [part for option, value in given.items() if option not in arguments for part in (option, value)]
    return main(["select", *defaults, *map(str, arguments)])


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_best_come_first(files, capsys):
    options = ("--in-domain", "dev", "test", "--alignment", "align", "--output-alignment", "deep/o.align")
    assert call("--source", "f.gz", *options, "--sentences", 4, "--log", "log") == 0
    rows = [line.split("\t") for line in lines(files / "log")]
    numbers = [int(number) for number, _, _ in rows]
    assert numbers == [1, 2, 6, 5]
    for output, text in (("o.f", SOURCE), ("o.e", TARGET), ("deep/o.align", ALIGNMENT)):
        assert lines(files / output) == [text[number - 1] for number in numbers]
    assert [int(n_words) for _, _, n_words in rows] == [2, 2, 2, 5]
    scores = [float(score) for _, score, _ in rows]
    assert scores == sorted(scores, reverse=True)
    printed = capsys.readouterr()
    assert "o.f: 4 sentence pairs (of 5) with 11 source words, selected in" in printed.out
    table = [line.split() for line in printed.out.splitlines()[2:]]
    assert table[0] == ["selected", "4", "11", "100.0", "%", "100.0", "%"]
    assert table[2] == ["all", "5", "14", "100.0", "%", "100.0", "%"]
    assert "f.gz, e: 2 of 7 pairs skipped: one side is empty" in printed.err
    before = (files / "o.f").read_bytes(), (files / "log").read_bytes()
    assert call(*options, "--sentences", 4, "--log", "log") == 0
    assert ((files / "o.f").read_bytes(), (files / "log").read_bytes()) == before


def test_in_the_order_of_the_bitext(files):
    assert call("--in-order", "--words", 3) == 0
    assert lines(files / "o.f") == ["a b", "a b"]
    assert lines(files / "o.e") == ["T2", "T6"]


def test_a_larger_budget_takes_all(files, capsys):
    (files / "c.yaml").write_text("{words: 1000, order: 1, decay_factor: 0.5, decay_exponent: 0}")
    assert call("--config", "c.yaml", "--in-order") == 0
    assert lines(files / "o.e") == ["T1", "T2", "T4", "T5", "T6"]
    printed = capsys.readouterr().out
    assert "5 sentence pairs (all, since the budget leaves none out) with 14 source words" in printed
    assert "1-grams\n" in printed


def test_text_without_a_common_word(files, capsys):
    assert call("--in-domain", "other", "--sentences", 2) == 0
    assert lines(files / "o.f") == ["c d", "a b"]
    assert capsys.readouterr().out.count(" 0.0 %") == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "neither sentences nor words to select; give one of the two"),
        (("--sentences", "3", "--words", "5"), "sentences and words to select; give one of the two"),
        (("--config", "both.yaml"), "sentences and words to select; give one of the two"),
        (("--sentences", "0"), "options: sentences: Input should be greater than or equal to 1, found 0"),
        (("--sentences", "1", "--order", "9"), "options: order: Input should be less than or equal to 8, found 9"),
        (("--words", "5", "--in-domain", "empty", "blank"), "empty, blank: no words; give text"),
        (("--words", "5", "--in-domain", "absent"), "absent: No such file or directory"),
        (("--words", "5", "--in-domain", "latin"), "latin:2: byte 0xe9"),
        (("--words", "5", "--source", "few"), "few: 6 lines, but e has more"),
        (("--words", "5", "--target", "few"), "few: 6 lines, but f has more"),
        (("--words", "5", "--alignment", "few", "--output-alignment", "o"), "few: 6 lines, but f has more"),
        (("--words", "5", "--alignment", "align"), "--alignment and --output-alignment need each other"),
        (("--words", "5", "--source", "empty", "--target", "empty"), "empty: no line has words"),
        (("--words", "5", "--target", "blank"), "f: no line has words on both sides, here and in blank"),
        (("--words", "5", "--log", "o.f"), "o.f, o.e, o.f: one file for several outputs"),
    ],
)
def test_mistakes(files, capsys, arguments, complaint):
    assert call(*arguments) == 2
    error = capsys.readouterr().err.splitlines()
    assert error[-1].startswith("phrasebeam: ")
    assert complaint in error[-1]
    assert not [path for path in files.iterdir() if path.name.startswith(("o", ".o")) and path.name != "other"]


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd")
def test_a_pipe_cannot_be_read_twice(files, capsys):
    reader, writer = os.pipe()
    os.write(writer, (files / "e").read_bytes())
    os.close(writer)
    assert call("--words", 5, "--target", f"/dev/fd/{reader}") == 2
    os.close(reader)
    assert "fewer lines than when first read; give a file that can be read twice" in capsys.readouterr().err
    assert not (files / "o.f").exists()
