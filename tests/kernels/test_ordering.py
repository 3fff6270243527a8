"""Heaps against sorted()."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.kernels.ordering import is_worse, push, rank, sift_down, sort_best_first

pytestmark = pytest.mark.kernels

SCORES = st.lists(st.integers(-3, 3).map(float) | st.just(-np.inf), max_size=40)


def best_first(scores):
    """Ties keep the order of the list."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])


@given(SCORES)
def test_rank_is_a_stable_sort(values):
    scores, heap = np.array([*values, 99.0]), np.full(len(values) + 1, -7, np.int64)
    rank(scores, np.int64(len(values)), heap)
    assert heap.tolist() == [*best_first(values), -7]


@given(SCORES, st.integers(1, 10))
def test_a_heap_of_limited_size_keeps_the_best(values, limit):
    scores, heap, size = np.array(values), np.zeros(limit, np.int64), np.int64(0)
    for item in range(len(values)):
        if size < limit:
            push(scores, heap, size, item)
            size += 1
        elif is_worse(scores, heap[0], item):
            heap[0] = item
            sift_down(scores, heap, np.int64(0), size)
        assert heap[0] == best_first(values[: item + 1])[:limit][-1]  # the worst of them
    sort_best_first(scores, heap, size)
    assert heap[:size].tolist() == best_first(values)[:limit]


@given(SCORES)
def test_the_order_is_total(values):
    scores = np.array(values)
    for a in range(len(values)):
        assert not is_worse(scores, a, a)
        for b in range(a):
            assert is_worse(scores, a, b) != is_worse(scores, b, a)
