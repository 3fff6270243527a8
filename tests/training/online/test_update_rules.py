"""Rules by which a step moves weights: each is its formulas, also where its state was written and read in between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights, used
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.per_feature import FeatureDirection, PerFeature, sum_of
from phrasebeam.training.online.update_rules import RULES, new_rule
from tests.naive.online import adagrad_fobos, lazy_adam, passive_aggressive

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


def rate_of(key):
    return float(RATES.groups[group_of(key)])


def direction_of(dense, sparse, loss=0.0):
    keys = np.array(sorted(sparse), np.uint64)
    vector = np.array([dense.get(i, 0.0) for i in range(N_DENSE)])
    values, groups = ([f(key) for key in sorted(sparse)] for f in (sparse.get, group_of))
    return FeatureDirection(vector, keys, np.array(values, float), np.array(groups, np.int64), loss)


def weights_after(rule, steps, settled=(), restored=None):
    """(dense, {key: weight}) after `steps`; all weights are brought up to date after the steps `settled`, and at last.

    After the step `restored`, everything is written and read.
    """
    learned = LearnedWeights(np.array([1.0, -1.0]), new_sparse_weights())
    learned.keep(rule.columns)
    for number, (dense, sparse) in enumerate(steps):
        rule.step(learned, [direction_of(dense, sparse)], 1)
        if number in settled:
            rule.settle(learned)
        if number == restored:
            learned = LearnedWeights.restored(dict(learned.arrays()), rule.columns)
    rule.settle(learned)
    return learned.dense.tolist(), dict(zip(*(array.tolist() for array in used(learned.sparse))))


@pytest.mark.kernels
@pytest.mark.parametrize("truncates_all", [False, True])
@given(STEPS, st.sets(st.integers(0, 12)), st.integers(0, 12))
@settings(deadline=None)
def test_adagrad_is_its_formulas_to_the_last_bit(truncates_all, steps, settled, restored):
    """However late weights are truncated that have no gradient."""
    rule = new_rule("adagrad", RATES, STRENGTHS, truncates_all)
    dense, sparse = weights_after(rule, steps, settled, restored)
    assert (dense, sparse) == weights_after(rule, steps)
    expected = adagrad_fobos(
        [one for _, one in steps],
        rate_of,
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
def test_regularization_leaves_few_features():
    steps = [({}, {key: 0.1 if key % 5 else 2.0 * (-1) ** n for key in range(1, 41)}) for n in range(6)]
    kept = [
        sum(value != 0 for value in weights_after(new_rule("adagrad", RATES, strengths), steps)[1].values())
        for strengths in (STRENGTHS, STRENGTHS._replace(groups=np.zeros(N_GROUPS)))
    ]
    assert 0 < kept[0] < kept[1] == 40


@pytest.mark.kernels
@given(STEPS)
@settings(deadline=None)
def test_the_perceptron_adds_the_mean_of_a_mini_batch(steps):
    learned, directions = LearnedWeights(np.zeros(N_DENSE), new_sparse_weights()), [direction_of(*one) for one in steps]
    new_rule("perceptron", RATES).step(learned, directions, len(steps) + 1)
    if steps:
        total = sum_of(directions)
        assert learned.dense == pytest.approx(RATES.dense * total.dense / (len(steps) + 1), abs=1e-12)
        found = dict(zip(*(array.tolist() for array in used(learned.sparse))))
        for key, value, group in zip(total.keys.tolist(), total.values, total.groups):
            assert found[key] == pytest.approx(RATES.groups[group] * value / (len(steps) + 1), abs=1e-12)


@pytest.mark.kernels
@given(STEPS, st.integers(0, 12))
@settings(deadline=None)
def test_adam_is_its_formulas(steps, restored):
    dense, sparse = weights_after(new_rule("adam", RATES), steps, restored=restored)
    expected = lazy_adam([one for _, one in steps], rate_of, {})
    assert sparse == pytest.approx(expected, rel=1e-9, abs=1e-12)
    of_dense = lazy_adam([one for one, _ in steps], RATES.dense.tolist().__getitem__, {0: 1.0, 1: -1.0})
    assert dense == pytest.approx([of_dense[0], of_dense[1]], rel=1e-9)


@pytest.mark.kernels
@given(st.lists(st.tuples(st.floats(0, 5), st.dictionaries(st.integers(-N_DENSE, 20), VALUES)), max_size=5))
@settings(deadline=None)
def test_passive_aggressive_is_its_formula(batch):
    """Keys below 1 are dense features here."""
    learned = LearnedWeights(np.zeros(N_DENSE), new_sparse_weights())
    parts = [
        (
            {-key: value for key, value in one.items() if -N_DENSE < key < 1},
            {k: v for k, v in one.items() if k > 0},
            loss,
        )
        for loss, one in batch
    ]
    new_rule("pa", RATES).step(learned, [direction_of(*one) for one in parts], len(batch))
    plain = [(loss, {key: value for key, value in one.items() if key > -N_DENSE}) for loss, one in batch]
    expected = passive_aggressive(plain, lambda key: rate_of(key) if key > 0 else float(RATES.dense[-key]), {})
    found = dict(zip(*(array.tolist() for array in used(learned.sparse))))
    found |= {-i: value for i, value in enumerate(learned.dense.tolist()) if -i in expected}
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.kernels
def test_a_passive_step_ends_where_the_loss_is_0():
    learned, one = LearnedWeights(np.zeros(N_DENSE), new_sparse_weights()), direction_of({0: 3.0}, {7: 2.0}, loss=1.0)
    new_rule("pa", RATES).step(learned, [one], 1)
    assert learned.dense @ one.dense + used(learned.sparse)[1] @ one.values == pytest.approx(1.0)


@pytest.mark.kernels
@pytest.mark.parametrize("name", RULES)
def test_a_rule_goes_on_with_the_state_that_was_written(name):
    """However often the table grows."""
    rng = np.random.default_rng(1)
    keys = [rng.choice(np.arange(1, 400), 30, replace=False).tolist() for _ in range(20)]
    steps = [({0: rng.normal()}, {key: rng.normal() for key in some}) for some in keys]
    rule = new_rule(name, RATES, STRENGTHS)
    assert weights_after(rule, steps, restored=9) == weights_after(rule, steps)


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.columns._fields])
def test_state_of_another_rule_is_refused(name):
    learned = LearnedWeights(np.zeros(N_DENSE), new_sparse_weights())
    with pytest.raises(TypeError, match=rf"weights with NoColumns, expected {RULES[name].columns.__name__}; call keep"):
        new_rule(name, RATES).step(learned, [direction_of({}, {1: 1.0})], 1)
