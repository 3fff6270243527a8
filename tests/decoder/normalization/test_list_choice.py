"""Probabilities within lists, the candidates that are kept, and weights that are learned."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.candidates import CandidateLists
from phrasebeam.decoder.normalization.list_choice import LEAST_LN, MOST_KEPT, likeliest, ln_posteriors, normalized
from phrasebeam.training.normalization.list_learning import GoldPairs, learn_weights

SCORES = st.lists(st.lists(st.floats(-20, 20), min_size=1, max_size=12), min_size=1, max_size=5)


def lists_of(rows):
    forms = [f"{i}-{k}" for i, row in enumerate(rows) for k in range(len(row))]
    features = np.array([[value] for row in rows for value in row])
    first = np.cumsum([0, *map(len, rows)])
    return CandidateLists([str(i) for i in range(len(rows))], forms, first, features, ["value"])


@given(SCORES)
def test_probabilities_and_what_is_kept(rows):
    lists = lists_of(rows)
    ln_prob = ln_posteriors(lists, {"value": 1.0})
    kept = likeliest(lists, ln_prob)
    for i, row in enumerate(rows):
        total = math.log(sum(math.exp(value) for value in row))
        expected = [value - total for value in row]
        assert ln_prob[lists.first[i] : lists.first[i + 1]] == pytest.approx(expected, abs=1e-9)
        order = sorted(range(len(row)), key=lambda k: (-ln_prob[lists.first[i] + k], k))
        likely = [k for n, k in enumerate(order) if n == 0 or ln_prob[lists.first[i] + k] >= LEAST_LN][:MOST_KEPT]
        assert (kept.candidate[kept.first[i] : kept.first[i + 1]] - lists.first[i]).tolist() == likely


def test_no_words():
    assert normalized(np.zeros(0), np.zeros(1, np.int64)).size == 0


def test_weights_prefer_what_is_right():
    lists = lists_of([[0.0, 1.0], [2.0, 1.0], [0.5, 3.0]])
    right = GoldPairs(np.arange(3), np.array([1, 2, 5]), np.array([1.0, 2.0, 1.0]))
    weights = learn_weights(lists, right, penalty=0.1)
    assert weights["value"] > 0
    constant = lists._replace(features=np.ones((6, 1)))
    assert learn_weights(constant, right, penalty=0.1) == {"value": 0.0}
