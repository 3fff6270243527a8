"""Fields, words and points in bytes of text against Python's own methods; vocabularies that kernels fill."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.lm.text import text_vocabulary
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.corpus_reader import read_corpus
from phrasebeam.lm.text.fields import NONE
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.text_vocabulary import TextVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary
from tests.inner_kernels import read_points, split_fields

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

LINES = st.text(st.sampled_from("ab |\t\r\u00a0\x0b"), max_size=20)
WORDS = st.lists(st.text(st.sampled_from("ab\u00e9\u00a0|"), min_size=1, max_size=4), max_size=12)


@given(LINES, st.integers(1, 5), st.sampled_from(["", "\n", "\r\n"]))
def test_fields_are_those_that_python_splits(line, most, end):
    data = np.frombuffer(bytearray(f"||| |{line}{end}".encode()), np.uint8)
    fields = np.full((most + 1, 2), -7)
    n_fields = split_fields(data, np.int64(5), np.int64(data.size), fields)
    expected = [field.strip(" \t") for field in line.rstrip("\r").split("|||")]
    assert n_fields == min(len(expected), most + 1)
    found = [data[begin:behind].tobytes().decode() for begin, behind in fields[: min(len(expected), most)]]
    assert found == expected[:most]
    assert (fields[most] == -7).all()


@given(st.text(st.sampled_from("0123-?p \t"), max_size=12), st.integers(1, 3), st.booleans())
def test_points_are_those_of_a_pattern(text, most_digits, has_possible):
    points = np.full((20, 2), -7)
    data = np.frombuffer(bytearray(f"9{text}9".encode()), np.uint8)
    sizes = np.int64(1), np.int64(data.size - 1)
    n_points = read_points(data, *sizes, points, np.int64(2), np.int64(most_digits), has_possible)
    marks = "[-?p]" if has_possible else "-"
    point = re.compile(rf"([0-9]{{1,{most_digits}}}){marks}([0-9]{{1,{most_digits}}})")
    matches = [point.fullmatch(word) for word in split(text)]
    if all(matches):
        assert n_points == len(matches)
        assert points[2 : 2 + n_points].tolist() == [[int(match[1]), int(match[2])] for match in matches]
    else:
        assert n_points == NONE
    assert (points[:2] == -7).all()


@given(st.lists(WORDS, max_size=5), st.lists(st.sampled_from("abc"), unique=True), st.sampled_from([1, 1000]))
def test_vocabularies_grow_as_dicts(tmp_path_factory, sentences, known, first_words):
    directory = tmp_path_factory.mktemp("text")
    (directory / "text").write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
    vocabulary, expected = Vocabulary(known), Vocabulary(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_vocabulary, "FIRST_WORDS", first_words)
        patch.setattr(text_vocabulary, "FIRST_BYTES", first_words)
        corpus = read_corpus(directory / "text", vocabulary)
        by_words = read_corpus(directory / "text", Vocabulary(known), lambda line: split(line))
    ids = [[expected.add(word) for word in words] for words in sentences]
    assert [corpus.sentence(i).tolist() for i in range(len(ids))] == ids
    assert (vocabulary.words, vocabulary.index) == (expected.words, expected.index)
    assert all(np.array_equal(one, other) for one, other in zip(corpus, by_words))


@given(WORDS)
def test_a_text_vocabulary_is_saved_and_asked(tmp_path_factory, words):
    distinct = list(dict.fromkeys(words))
    vocabulary, path = TextVocabulary(distinct), tmp_path_factory.mktemp("vocabulary") / "source.vocab"
    vocabulary.make_room(5000)
    vocabulary.save(path)
    assert (vocabulary.words, len(vocabulary), FixedVocabulary(path).words) == (distinct, len(distinct), distinct)
    assert vocabulary.ids([*distinct, "zz"], missing=-3).tolist() == [*range(len(distinct)), -3]
