"""The rules by which a step moves weights: the perceptron's, AdaGrad, and L1 regularization, lazily and eagerly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights, used
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.online.direction import FeatureDirection, sum_of
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.per_feature import PerFeature
from phrasebeam.training.online.update_rules import AdaGrad, Perceptron, RuleSettings
from tests.naive.online import adagrad_fobos

N_GROUPS, N_DENSE = len(GROUPS), 2
RATES = PerFeature(np.array([0.5, 0.25]), 0.1 + 0.03 * np.arange(N_GROUPS))
STRENGTHS = PerFeature(np.array([0.0, 0.3]), 0.2 * (np.arange(N_GROUPS) % 3))
VALUES = st.floats(-3, 3).filter(lambda value: abs(value) > 1e-3)
STEPS = st.lists(
    st.tuples(st.dictionaries(st.integers(0, N_DENSE - 1), VALUES), st.dictionaries(st.integers(1, 40), VALUES)),
    max_size=12,
)


def group_of(key):
    return key % N_GROUPS


def direction_of(dense, sparse):
    keys = np.array(sorted(sparse), np.uint64)
    vector = np.array([dense.get(i, 0.0) for i in range(N_DENSE)])
    values, groups = ([f(key) for key in sorted(sparse)] for f in (sparse.get, group_of))
    return FeatureDirection(vector, keys, np.array(values, float), np.array(groups, np.int64))


def weights_after(rule, steps, settled=(), restored=None):
    """(dense, {key: weight}) after `steps`; all weights are brought up to date after the steps `settled`, and at last.

    After the step `restored`, everything is written and read.
    """
    learned = LearnedWeights(np.array([1.0, -1.0]), new_sparse_weights(), rule.is_adaptive)
    for number, (dense, sparse) in enumerate(steps):
        rule.step(learned, [direction_of(dense, sparse)], 1)
        if number in settled:
            rule.settle(learned)
        if number == restored:
            learned = LearnedWeights.restored(learned.arrays())
    rule.settle(learned)
    return learned.dense.tolist(), dict(zip(*(array.tolist() for array in used(learned.sparse))))


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("truncates_all", [False, True])
@given(STEPS, st.sets(st.integers(0, 12)), st.integers(0, 12))
@settings(deadline=None)
def test_adagrad_is_its_formulas_to_the_last_bit(truncates_all, steps, settled, restored):
    """However late weights are truncated that have no gradient."""
    rule = AdaGrad(RuleSettings(RATES, STRENGTHS, truncates_all))
    dense, sparse = weights_after(rule, steps, settled, restored)
    assert (dense, sparse) == weights_after(rule, steps)
    expected = adagrad_fobos(
        [one for _, one in steps],
        lambda key: float(RATES.groups[group_of(key)]),
        lambda key: float(STRENGTHS.groups[group_of(key)]),
        truncates_all,
        {},
    )
    assert sparse == expected
    rates, strengths = (values.dense.tolist().__getitem__ for values in (RATES, STRENGTHS))
    of_dense = [one for one, _ in steps]
    expected_dense = adagrad_fobos(of_dense, rates, strengths, truncates_all, {0: 1.0, 1: -1.0})
    assert dense == pytest.approx([expected_dense[0], expected_dense[1]], abs=1e-15)


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:overflow")
def test_regularization_leaves_few_features():
    steps = [({}, {key: 0.1 if key % 5 else 2.0 * (-1) ** n for key in range(1, 41)}) for n in range(6)]
    kept = [
        sum(value != 0 for value in weights_after(AdaGrad(RuleSettings(RATES, strengths)), steps)[1].values())
        for strengths in (STRENGTHS, STRENGTHS._replace(groups=np.zeros(N_GROUPS)))
    ]
    assert 0 < kept[0] < kept[1] == 40


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:overflow")
@given(STEPS)
@settings(deadline=None)
def test_the_perceptron_adds_the_mean_of_a_mini_batch(steps):
    learned, directions = LearnedWeights(np.zeros(N_DENSE), new_sparse_weights()), [direction_of(*one) for one in steps]
    Perceptron(RATES).step(learned, directions, len(steps) + 1)
    if steps:
        total = sum_of(directions)
        assert learned.dense == pytest.approx(RATES.dense * total.dense / (len(steps) + 1), abs=1e-12)
        found = dict(zip(*(array.tolist() for array in used(learned.sparse))))
        for key, value, group in zip(total.keys.tolist(), total.values, total.groups):
            assert found[key] == pytest.approx(RATES.groups[group] * value / (len(steps) + 1), abs=1e-12)
