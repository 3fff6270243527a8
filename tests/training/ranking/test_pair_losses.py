"""Ranking by coefficients of hypotheses against dictionaries of weights, pair by pair."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.output.list_features import ListFeatures, scores_of
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.online.per_feature import PerFeature
from phrasebeam.training.ranking.pair_losses import (
    Ranking,
    decoded_perceptron,
    direction,
    logistic_ranking,
    sequential_perceptron,
)
from phrasebeam.training.ranking.pairs import Pairs
from tests.naive import online as naive

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

# Sums and products of these are exact, so that no lead misses the margin by rounding.
DENSE, SPARSE, WEIGHTS = (
    st.sampled_from(values) for values in ([0.0, 0.5, -1.25, 3.0], [0.0, 0.0, 1.0, 0.5, -2.0], [0.0, 1.0, -0.5, 0.25])
)
RATES = st.sampled_from([1.0, 0.5, 0.125, 0.0])
KEYS = [3, 2**64 - 1, 7, 2**63, 1, 2**40, 12, 11]


class Case(NamedTuple):
    """A list, pairs of its hypotheses, weights and rates."""

    features: ListFeatures
    vectors: list  # of dictionaries; dense features are negative numbers
    groups: dict  # by key
    pairs: Pairs
    dense: np.ndarray
    sparse: dict
    rates: PerFeature

    def weights(self):
        """All weights by feature."""
        return {-1 - f: value for f, value in enumerate(self.dense.tolist())} | self.sparse

    def known(self):
        """The pairs as tuples."""
        return list(zip(self.pairs.better.tolist(), self.pairs.worse.tolist()))

    def scores(self):
        """float64[K], by the weights."""
        table = new_sparse_weights(len(self.sparse))
        add_weights(table, np.array(list(self.sparse), np.uint64), np.array(list(self.sparse.values())))
        return scores_of(self.features, self.dense, table)

    def rate_of(self, feature):
        """The rate of one feature."""
        return self.rates.dense[-1 - feature] if feature < 0 else self.rates.groups[self.groups[feature]]


@st.composite
def cases(draw):
    size, n_dense, n_columns = draw(st.integers(1, 6)), draw(st.integers(0, 3)), draw(st.integers(0, len(KEYS)))
    dense = draw(st.lists(st.lists(DENSE, min_size=n_dense, max_size=n_dense), min_size=size, max_size=size))
    patterns = draw(st.lists(st.lists(SPARSE, min_size=size, max_size=size), min_size=1, max_size=3))
    patterns += [pattern[::-1] for pattern in patterns]  # the same values in other hypotheses
    columns = [draw(st.sampled_from(patterns)) for _ in range(n_columns)]  # often that of the column before
    rows = [[(c, column[i]) for c, column in enumerate(columns) if column[i]] for i in range(size)]
    groups = [draw(st.integers(0, 2)) for _ in range(n_columns)]
    features = ListFeatures(
        np.array(dense, float).reshape(size, n_dense),
        np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64),
        np.array([c for row in rows for c, _ in row], np.int32),
        np.array([value for row in rows for _, value in row], float),
        np.array(KEYS[:n_columns], np.uint64),
        np.array(groups, np.uint8),
    )
    vectors = [
        {-1 - f: value for f, value in enumerate(dense[i])} | {KEYS[c]: value for c, value in row}
        for i, row in enumerate(rows)
    ]
    hypotheses = st.integers(0, size - 1)
    pairs = np.array(draw(st.lists(st.tuples(hypotheses, hypotheses), max_size=20)), np.int64).reshape(-1, 2)
    weights = [draw(WEIGHTS) for _ in range(n_dense)]
    rates = PerFeature(
        np.array([draw(RATES) for _ in range(n_dense)], float),
        np.array([draw(RATES) for _ in range(3)] + [0.0] * (len(GROUPS) - 3)),
    )
    return Case(
        features,
        vectors,
        dict(zip(KEYS, groups)),
        Pairs(*np.ascontiguousarray(pairs.T)),
        np.array(weights, float),
        {key: draw(WEIGHTS) for key in KEYS[:n_columns]},
        rates,
    )


def by_feature(found):
    """A direction as a dictionary, zeros left out."""
    assert found.keys.tolist() == sorted(found.keys.tolist())
    dense = {-1 - f: value for f, value in enumerate(found.dense.tolist()) if value}
    return dense | dict(zip(found.keys.tolist(), found.values.tolist(), strict=True))


@given(cases(), st.sampled_from([0.0, 0.5, 2.0]), st.booleans())
@settings(max_examples=300)
def test_perceptron(case, margin, is_sequential):
    if is_sequential:
        found = sequential_perceptron(case.features, case.scores(), case.pairs, case.rates, margin)
    else:
        found = decoded_perceptron(case.scores(), case.pairs, margin)
    given_pairs = case.vectors, case.weights(), case.known(), case.rate_of, margin
    expected, *counts = naive.perceptron(*given_pairs, is_sequential)
    assert [found.loss, found.n_updates, found.n_wrong] == counts
    way = direction(case.features, found)
    assert [case.groups[key] for key in way.keys.tolist()] == way.groups.tolist()
    moved, weights = by_feature(way), case.weights()
    assert 0.0 not in moved.values()
    assert {name: weights[name] + case.rate_of(name) * moved.get(name, 0.0) for name in weights} == expected | {
        name: value for name, value in weights.items() if name not in expected
    }


@given(cases())
@settings(max_examples=100)
def test_logistic(case):
    found = logistic_ranking(case.scores(), case.pairs)
    expected, loss, wrong = naive.logistic(case.vectors, case.weights(), case.known())
    assert (found.loss, found.n_updates, found.n_wrong) == (pytest.approx(loss), case.pairs.better.size, wrong)
    moved = by_feature(direction(case.features, found))
    names = moved.keys() | expected.keys()
    assert [moved.get(name, 0.0) for name in names] == pytest.approx(
        [expected.get(name, 0.0) for name in names], abs=1e-12
    )


def test_no_feature_moves_by_rounding_alone():
    """Three terms that add up to 0, but not in floating point."""
    features = ListFeatures(
        np.full((3, 1), 0.1),
        np.array([0, 1, 2, 3]),
        np.zeros(3, np.int32),
        np.full(3, 0.1),
        np.array([5], np.uint64),
        np.zeros(1, np.uint8),
    )
    coefficients = np.array([0.1, 0.2, -0.3])
    assert coefficients.sum() != 0
    found = direction(features, Ranking(coefficients, 0.0, 3, 0))
    assert (found.dense.tolist(), found.keys.size) == ([0.0], 0)


def test_leads_of_any_size():
    pairs = Pairs(np.array([0, 1]), np.array([1, 0]))
    found = logistic_ranking(np.array([1e6, 0.0]), pairs)
    assert found.coefficients == pytest.approx([-1.0, 1.0])
    assert (found.loss, found.n_wrong) == (1e6, 1)
