"""Pairs for ranking against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.training.ranking.pairs import multipartite_pairs, sampled_pairs
from tests.naive import online as naive

GAINS = st.lists(st.integers(0, 6).map(lambda n: n / 8), min_size=1, max_size=30).map(np.array)


@given(GAINS, st.sampled_from([0.0, 0.1, 0.25, 0.5]))
def test_multipartite_pairs(gains, share):
    found = multipartite_pairs(gains, share)
    assert list(zip(found.better.tolist(), found.worse.tolist())) == naive.multipartite(gains.tolist(), share)


@pytest.mark.parametrize(("size", "expected"), [(100, 1700), (10, 17), (3, 3), (2, 1), (1, 0), (0, 0)])
def test_how_many_pairs_there_are(size, expected):
    assert multipartite_pairs(np.linspace(1, 0, size)).better.size == expected


@given(GAINS, st.integers(1, 40), st.integers(1, 20), st.sampled_from([0.0, 0.2]))
def test_sampled_pairs(gains, samples, kept, threshold):
    found = sampled_pairs(gains, np.random.default_rng(1), samples, kept, threshold)
    left, right = np.random.default_rng(1).integers(gains.size, size=(2, samples)).tolist()
    drawn = [(a, b) if gains[a] > gains[b] else (b, a) for a, b in zip(left, right)]
    far = [(a, b) for a, b in drawn if gains[a] - gains[b] > threshold]
    expected = sorted(far, key=lambda pair: gains[pair[1]] - gains[pair[0]])[:kept]
    assert list(zip(found.better.tolist(), found.worse.tolist())) == expected
