"""Comparison of phrases against slices of lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inner_kernels import same_words

pytestmark = pytest.mark.kernels

TEXTS = st.lists(st.integers(0, 2), min_size=6, max_size=9)


@given(TEXTS, TEXTS, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_same_words(words, others, first, begin, length):
    arrays = [np.array(text, np.int32) for text in (words, others)]
    found = same_words(arrays[0], np.int64(first), arrays[1], np.int64(begin), np.int64(length))
    assert found == (words[first : first + length] == others[begin : begin + length])
