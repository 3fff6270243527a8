"""Weights during learning: a table that grows in pieces, and the largest averages, against dicts."""

import numpy as np
import pytest

from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights, used
from phrasebeam.training.online import learned_weights
from phrasebeam.training.online.learned_weights import LearnedWeights


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_averages_are_those_of_a_dict(monkeypatch, seed):
    monkeypatch.setattr(learned_weights, "CHUNK", 8)
    rng = np.random.default_rng(seed)
    learned, now, sums = LearnedWeights(np.zeros(2), new_sparse_weights()), dict[int, float](), dict[int, float]()
    group_of = dict[int, int]()
    for _ in range(16):  # so that averages are exact
        keys = rng.choice(np.arange(1, 200), 12, replace=False).astype(np.uint64)
        amounts = rng.integers(-2, 3, 12).astype(float)
        groups = (keys % np.uint64(3)).astype(np.int64)
        learned.add(np.ones(2), keys, amounts, groups)
        for key, amount, group in zip(keys.tolist(), amounts.tolist(), groups.tolist()):
            now[key], group_of[key] = now.get(key, 0.0) + amount, group
        learned.count_in_average()
        for key, value in now.items():
            sums[key] = sums.get(key, 0.0) + value
    averages = {key: total / 16 for key, total in sums.items() if total}
    order = sorted(averages, key=lambda key: (-abs(averages[key]), key))
    for most in (None, 10**6, len(order), 40, 7, 1):
        found = learned.average(most)
        wanted = {key: averages[key] for key in order[:most]}
        keys, values = used(found.sparse)
        assert {key: value for key, value in zip(keys.tolist(), values.tolist()) if value} == wanted
        best = found.nonzero()
        assert all(group_of[key] == group for key, group in zip(best.keys.tolist(), best.group.tolist()))
        assert found.dense.tolist() == [8.5, 8.5]


def test_no_average_of_zeros():
    learned = LearnedWeights(np.zeros(1), new_sparse_weights())
    keys, groups = np.arange(1, 9, dtype=np.uint64), np.zeros(8, np.int64)
    for amount in (1.0, -1.0):
        learned.add(np.zeros(1), keys, np.full(8, amount), groups)
    assert learned.average(3).nonzero().keys.size == 0
