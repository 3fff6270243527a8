"""The command cluster: the file written, read as sparse features read it, and one line for each mistake."""

import gzip

import pytest

from phrasebeam.cli import main
from phrasebeam.lm.text.word_classes import read_word_classes

pytestmark = pytest.mark.kernels

TEXT = "the cat ate .\na dog ran .\nthe dog ate .\na cat ran .\n\nthe cat ran .\nvisit\u00a0us\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    return path


def call(*arguments):
    return main(["cluster", *map(str, arguments)])


def test_writes_paths(tmp_path, text, capsys):
    output = tmp_path / "deep" / "paths"
    assert call("--text", text, "--classes", 4, "--output", output) == 0
    assert f"{output}: 4 classes of 8 words, made in" in capsys.readouterr().out
    rows = [line.split("\t") for line in output.read_text().splitlines()]
    assert {word: int(count) for _, word, count in rows} == {
        "the": 3, "a": 2, "cat": 3, "dog": 2, "ate": 2, "ran": 3, ".": 5, "visit\u00a0us": 1
    }  # fmt: skip
    names = [name for name, _, _ in rows]
    assert names == sorted(names)
    assert len(set(names)) == 4
    classes = read_word_classes(output)
    assert classes == {word: name for name, word, _ in rows}
    assert classes["the"] == classes["a"] != classes["cat"] == classes["dog"]
    before = output.read_bytes()
    assert call("--text", text, "--classes", 4, "--output", output) == 0
    assert output.read_bytes() == before


def test_rare_words_get_no_class(tmp_path, text):
    assert call("--text", text, text, "--classes", 3, "--min-count", 6, "--output", tmp_path / "paths") == 0
    assert sorted(read_word_classes(tmp_path / "paths")) == [".", "cat", "ran", "the"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--text", "absent"), "absent: No such file or directory"),
        (("--text", "few", "few", "--min-count", "3"), "few, few: 1 words that occur 3 times or more, for 200 classes"),
        (("--text", "empty"), "empty: 0 words that occur 1 times or more, for 200 classes; give more text"),
        (("--text", "few", "--classes", "1"), "classes is 1, expected a whole number from 2"),
        (("--text", "few", "--min-count", "0"), "min_count is 0, expected a whole number from 1"),
        (("--text", "latin"), "latin:2: byte 0xe9"),
        ((), "--text"),
    ],
)
def test_mistakes(tmp_path, capsys, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    for name, content in (("empty", b""), ("few", b"a b a\n"), ("latin", b"a\nb\xe9\n")):
        (tmp_path / name).write_bytes(content)
    assert call(*arguments, "--output", "paths") == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "paths").exists()
