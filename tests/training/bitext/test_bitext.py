"""Reading parallel text."""

import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.training.bitext.parallel_text import read_bitext


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_pairs_and_vocabularies(tmp_path):
    bitext = read_bitext(write(tmp_path / "f", "ein Haus\nja\n"), write(tmp_path / "e", "a house\nyes yes\n"))
    assert bitext.source_vocabulary.words == ["ein", "Haus", "ja"]
    assert bitext.target.sentence(1).tolist() == [2, 2]
    assert bitext.n_skipped == 0


def test_a_pair_with_an_empty_side_is_emptied_and_counted(tmp_path, caplog):
    bitext = read_bitext(write(tmp_path / "f", "a\n\nb c\n\n"), write(tmp_path / "e", "x\ny\n \nz\n"))
    assert bitext.n_skipped == 3
    assert bitext.source.offsets.tolist() == bitext.target.offsets.tolist() == [0, 1, 1, 1, 1]
    assert bitext.source.tokens.tolist() == [0]
    assert "3 of 4 pairs skipped" in caplog.text


def test_unequal_lengths(tmp_path):
    with pytest.raises(FormatError, match=r"e: 1 lines, but .*f has 2; line i of one"):
        read_bitext(write(tmp_path / "f", "a\nb\n"), write(tmp_path / "e", "x\n"))


def test_no_sentences(tmp_path):
    bitext = read_bitext(write(tmp_path / "f", ""), write(tmp_path / "e", ""))
    assert bitext.source.offsets.tolist() == [0]
