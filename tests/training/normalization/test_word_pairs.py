"""Files of word pairs: sentences, mistakes, parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.tokenizers.spelling import Spelling
from phrasebeam.training.normalization.word_pairs import (
    in_parts,
    read_known_words,
    read_word_pairs,
    spelling_of_forms,
)


def test_sentences_of_a_table_and_of_two_files(tmp_path):
    (tmp_path / "pairs.tsv").write_text("vnd\tund\nvon\t\n\n\ne\u0301\té\r\n")
    assert read_word_pairs(tmp_path / "pairs.tsv") == [[("vnd", "und")], [("é", "é")]]
    (tmp_path / "words").write_text("vnd\n\nee\n")
    (tmp_path / "forms").write_text("und\n\ne\n")
    assert read_word_pairs(tmp_path / "words", tmp_path / "forms") == [[("vnd", "und")], [("ee", "e")]]
    (tmp_path / "known").write_text("a b\nc\n\n")
    assert read_known_words(tmp_path / "known", Spelling()) == {"a", "b", "c"}
    assert read_known_words(tmp_path / "known", Spelling(is_spaced=True)) == {"a b", "c"}


def test_most_forms_say_what_their_letters_are():
    assert spelling_of_forms([[("ab", "a b"), ("c", "c"), ("de", "d e")]], "auto").is_spaced
    assert not spelling_of_forms([[("ab", "a b"), ("c", "c")], [("de", "de")]], "auto").is_spaced
    assert not spelling_of_forms([[("ab", "a b")]], "characters").is_spaced
    assert spelling_of_forms([[("ab", "ab")]], "spaced").is_spaced


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\na b\n", "pairs.tsv:2: no tab in 'a b'"),
        ("a\tb\tc\n", "pairs.tsv:1: 3 columns"),
        ("", "no word pairs"),
        (f"{'a' * 300}\tb\n", "longer than 200 characters"),
    ],
)
def test_mistakes(tmp_path, text, message):
    (tmp_path / "pairs.tsv").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_word_pairs(tmp_path / "pairs.tsv")


def test_files_of_other_lengths(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    (tmp_path / "forms").write_text("a\n")
    with pytest.raises(FormatError, match=r"forms: 1 lines, but .*words has more"):
        read_word_pairs(tmp_path / "words", tmp_path / "forms")


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 5))
def test_parts(sizes, n):
    sentences = [[("word", f"{i} {k}") for k in range(size)] for i, size in enumerate([*sizes, 2])]
    parts = in_parts(sentences, n)
    assert [pair for part in parts for one in part for pair in one] == [pair for one in sentences for pair in one]
    counts = [sum(map(len, part)) for part in parts]
    assert max(counts) - min(counts) <= 1


def test_words_of_a_list_are_dealt():
    words = [(f"{i}", "a") for i in range(7)]
    assert in_parts([words], 3) == [[[word] for word in words[i::3]] for i in range(3)]
