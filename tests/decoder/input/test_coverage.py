"""Coverages against a set of positions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, cover, is_covered

pytestmark = pytest.mark.kernels

SPANS = st.lists(st.tuples(st.integers(0, COVERAGE_WINDOW - 1), st.integers(1, 20)), max_size=40)


def put(first_gap, window, begin, end):
    """`cover` for Python's integers."""
    first_gap, window = cover(first_gap, np.uint64(window), begin, end)
    return int(first_gap), int(window)


@given(st.sampled_from([0, 1, 5000]), SPANS)
def test_agrees_with_a_set(start, spans_behind_the_gap):
    first_gap, window, covered = start, 0, set(range(start))
    for behind, length in spans_behind_the_gap:
        gap = min(set(range(len(covered) + start + 1)) - covered)
        begin, end = gap + behind, min(gap + behind + length, gap + COVERAGE_WINDOW)
        if covered.isdisjoint(range(begin, end)):
            covered.update(range(begin, end))
            first_gap, window = put(first_gap, window, begin, end)
        seen = [
            is_covered(first_gap, np.uint64(window), position)
            for position in range(first_gap, first_gap + COVERAGE_WINDOW)
        ]
        assert first_gap not in covered
        assert covered.issuperset(range(first_gap))
        assert seen == [position in covered for position in range(first_gap, first_gap + COVERAGE_WINDOW)]


def test_the_edge_of_the_window():
    first_gap, window = put(7, 0, 7 + 44, 7 + 64)
    assert (first_gap, window) == (7, (2**20 - 1) << 44)
    for begin in (8, 26):
        first_gap, window = put(first_gap, window, begin, begin + 18)
    assert (first_gap, window) == (7, sum(1 << k for k in [*range(1, 37), *range(44, 64)]))
    first_gap, window = put(first_gap, window, 44, 51)
    first_gap, window = put(first_gap, window, 7, 8)
    assert (first_gap, window) == (7 + 64, 0)
