"""Vocabularies of models against a dict, and files that are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary

pytestmark = pytest.mark.kernels

WORD = st.text(st.characters(blacklist_characters=" \t\r\n\v\f", blacklist_categories=["Cs"]), min_size=1)


@given(st.lists(WORD, unique=True), st.lists(WORD))
def test_same_as_the_vocabulary_that_was_saved(tmp_path_factory, words, others):
    path, saved = tmp_path_factory.mktemp("vocabulary") / "source.vocab", Vocabulary(words)
    saved.save(path)
    fixed = FixedVocabulary(path)
    assert (fixed.words, len(fixed)) == (words, len(words))
    assert [fixed.word(i) for i in range(len(words))] == words
    ids = fixed.ids([*words, *others], missing=-5)
    assert ids.tolist() == saved.ids([*words, *others], missing=-5).tolist()
    assert (ids.dtype, fixed.ids([]).size) == (np.int32, 0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"a\nb\na\nb\n", "v:3: the word 'a' is here twice; train the model again"),
        (b"a\nb", "v: ends within a line"),
        (b"a\nb\xff\n", "v:2: byte 0xff at column 2 is not UTF-8"),
    ],
)
def test_damaged_files_are_refused(tmp_path, text, complaint):
    (tmp_path / "v").write_bytes(text)
    with pytest.raises(FormatError, match=complaint):
        FixedVocabulary(tmp_path / "v")
