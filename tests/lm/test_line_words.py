"""Words of lines found by the kernel, against splitting and looking them up one by one."""

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.line_words import line_words
from phrasebeam.lm.text.vocabulary import Vocabulary

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]
KNOWN = ["haus", "äpfel", "a", "b", "a b", "日本", "\u3000"]
LINES = st.lists(
    st.lists(st.sampled_from([*KNOWN, "x", "ha", " ", "\t", "\r", "\v", "\f", "\n", "\u00a0"])).map("".join)
)


@given(LINES)
def test_words_of_lines(lines):
    with tempfile.TemporaryDirectory() as directory:
        Vocabulary(KNOWN).save(Path(directory) / "words")
        vocabulary = FixedVocabulary(Path(directory) / "words")
    found, expected = line_words(lines, vocabulary), [split(line) for line in lines]
    offsets = found.offsets.tolist()
    words = [found.word(i) for i in range(found.ids.size)]
    assert [words[begin:end] for begin, end in pairwise(offsets)] == expected
    assert found.ids.tolist() == [KNOWN.index(word) if word in KNOWN else -1 for word in words]
