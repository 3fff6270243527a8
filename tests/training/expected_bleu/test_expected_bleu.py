"""Maximum expected BLEU: objective and gradient, optimizers, growth transformation, against their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.expected_bleu.calibration import LAST_STEP, calibrate
from phrasebeam.training.expected_bleu.config import Steps
from phrasebeam.training.expected_bleu.growth_transformation import Channel, ascend, divergence, grow, ln_ratio, step
from phrasebeam.training.expected_bleu.objective import Design, Objective, ScoredLists, expectations
from phrasebeam.training.expected_bleu.optimizers import OPTIMIZERS, rprop
from phrasebeam.training.metrics.bleu import References
from phrasebeam.training.metrics.sentence_bleu import sentence_bleu
from tests.naive import expected_bleu as naive

N_EVENTS, N_FEATURES = 6, 5
UNIT = st.floats(0, 1, width=32)
HYPOTHESES = st.tuples(st.floats(-20, 20, width=32), UNIT, st.lists(st.integers(0, N_EVENTS - 1), max_size=5))
LISTS = st.lists(st.lists(HYPOTHESES, min_size=1, max_size=5), min_size=1, max_size=7)
DESIGN = st.lists(st.lists(st.integers(0, N_FEATURES - 1), max_size=4), min_size=N_EVENTS, max_size=N_EVENTS)
WEIGHTS = st.lists(st.floats(-2, 2), min_size=N_FEATURES, max_size=N_FEATURES)


def scored(lists):
    hypotheses = [one for some in lists for one in some]
    return ScoredLists(
        np.cumsum([0, *map(len, lists)], dtype=np.int64),
        np.array([one[0] for one in hypotheses], np.float32),
        np.array([one[1] for one in hypotheses], np.float32),
        np.cumsum([0, *(len(one[2]) for one in hypotheses)], dtype=np.int64),
        np.array([event for one in hypotheses for event in one[2]], np.int32),
    )


def designed(features):
    first = np.cumsum([0, *map(len, features)], dtype=np.int64)
    return Design(first, np.array([one for some in features for one in some], np.int32))


@pytest.mark.kernels
@given(LISTS, DESIGN, WEIGHTS, st.sampled_from([0.0, 0.01]), st.sampled_from([1.0, 0.3]))
@settings(deadline=None)
def test_gradient_is_that_of_finite_differences(lists, features, weights, tau, scale):
    fired = [[(s, b + 0.1, [f for e in events for f in features[e]]) for s, b, events in some] for some in lists]
    lists = [[(s, np.float32(b + 0.1), events) for s, b, events in some] for some in lists]
    weights = np.array(weights)
    halves = designed([some[:1] for some in features]), designed([some[1:] for some in features])
    objective = Objective(scored(lists), halves, N_FEATURES, tau, scale)
    value, gradient = objective.at(weights)
    assert value.objective == pytest.approx(naive.objective(fired, weights, tau, scale), abs=1e-6)
    assert value.expected_bleu == pytest.approx(naive.expected_bleu(fired, weights, scale), rel=1e-6)
    for feature in range(N_FEATURES):
        step = np.zeros(N_FEATURES)
        step[feature] = 1e-5
        difference = objective.at(weights + step)[0].objective - objective.at(weights - step)[0].objective
        assert gradient[feature] == pytest.approx(difference / 2e-5, abs=1e-6)


@pytest.mark.kernels
@given(LISTS, st.integers(2, 4))
@settings(deadline=None, max_examples=20)
def test_threads_do_not_change_a_bit(lists, threads):
    weights = np.linspace(-1, 1, N_EVENTS)
    one, several = (expectations(scored(lists), weights, 1.0, n) for n in (1, threads))
    assert one[0] == several[0]
    np.testing.assert_array_equal(one[1], several[1])


@pytest.mark.kernels
@given(LISTS, st.lists(st.integers(0, 4), min_size=N_EVENTS, max_size=N_EVENTS))
@settings(deadline=None, max_examples=50)
def test_calibration_finds_what_no_step_makes_better(lists, target_words):
    weights, found = calibrate(scored(lists), np.array(target_words))
    np.testing.assert_allclose(weights, found @ [np.ones(N_EVENTS), target_words])

    def worth(phrase, word):
        best = [
            max(some, key=lambda one: one[0] + sum(phrase + word * target_words[e] for e in one[2])) for some in lists
        ]
        return np.mean([one[1] for one in best])

    values = [worth(*(found + step)) for step in LAST_STEP * np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])]
    assert values[0] >= max(*values, worth(0, 0)) - 1e-6


@pytest.mark.kernels
def test_calibration_of_lists_that_have_too_many_phrases():
    lists = [[(0.0, 0.2, [0, 1, 2]), (-1.0, 0.8, [3])], [(0.0, 0.3, [4, 5]), (-0.2, 0.5, [1])]]
    _, (phrase, word) = calibrate(scored(lists), np.array([1, 1, 1, 3, 1, 1]))
    assert phrase < -0.3
    assert word >= 0.0


@pytest.mark.kernels
def test_what_events_weigh_before_counts():
    lists, known = scored([[(0.0, 0.25, [0]), (0.0, 0.75, [1])]]), np.array([0.0, 1.0, 0, 0, 0, 0])
    design = designed([[e] for e in range(N_EVENTS)])
    value, gradient = Objective(lists, [design], N_EVENTS, 0.0, calibrated=known).at(np.zeros(N_EVENTS))
    same, same_gradient = Objective(lists, [design], N_EVENTS, 0.0).at(known)
    assert value.expected_bleu == same.expected_bleu
    np.testing.assert_array_equal(gradient, same_gradient)


@pytest.mark.kernels
def test_lists_without_a_common_word_pair_are_refused():
    objective = Objective(scored([[(0.0, 0.0, [0])]]), [designed([[0]])], 1, 0.0)
    with pytest.raises(ConfigError, match="give data that fit the model"):
        objective.at(np.zeros(1))


@pytest.mark.kernels
def test_objective_of_one_sentence_by_hand():
    """Scores -1 and -2, the second with a feature of weight 0.5: p = 1 / (1 + exp(-0.5)) = 0.62246 and 0.37754."""
    objective = Objective(scored([[(-1.0, 0.6, []), (-2.0, 0.2, [0])]]), [designed([[0]])], 1, 0.01)
    value, gradient = objective.at(np.array([0.5]))
    assert value.expected_bleu == pytest.approx(0.6 * 0.6224593 + 0.2 * 0.3775407, abs=1e-6)
    assert value.objective == pytest.approx(np.log(0.4489837) - 0.01 * 0.25, abs=1e-6)
    assert gradient[0] == pytest.approx(0.3775407 * (0.2 - 0.4489837) / 0.4489837 - 0.01, abs=1e-6)


@pytest.mark.kernels
def test_sentence_bleu_by_hand():
    """Precisions 5/5 and 3/4; (2 + 5 * 0.5625) / 8 = 0.6015625; (1 + 5 * 0.4825033) / 7 = 0.4875023; exp(1 - 6/5)."""
    statistics = References([["the cat sat on the mat"]]).statistics(np.zeros(1, np.int64), ["the cat sat on mat"])
    product = 1.0 * 0.75 * 0.6015625 * 0.4875023
    assert sentence_bleu(statistics)[0] == pytest.approx(0.8187308 * product**0.25, abs=1e-6)


WORDS = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.mark.kernels
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
@settings(deadline=None)
def test_sentence_bleu_has_priors_and_no_clipped_brevity(pairs):
    references = References([[" ".join(reference) for _, reference in pairs]])
    statistics = references.statistics(np.arange(len(pairs)), [" ".join(hypothesis) for hypothesis, _ in pairs])
    expected = [naive.sentence_bleu(hypothesis, reference) for hypothesis, reference in pairs]
    assert sentence_bleu(statistics) == pytest.approx(expected, rel=1e-6)


GRADIENTS = st.lists(
    st.lists(st.sampled_from([0.0, -2.0, -1e-3, 1e-3, 1.0]), min_size=3, max_size=3), min_size=1, max_size=12
)


@given(GRADIENTS)
def test_rprop_follows_the_two_tables(gradients):
    weights, state, steps = np.array([0.0, 1.0, -1.0]), {}, Steps()
    expected = [(w, w, 0.0, steps.rprop.initial_step) for w in weights.tolist()]
    for gradient in gradients:
        rprop(weights, np.array(gradient), state, steps)
        for i, (last, weight, last_gradient, size) in enumerate(expected):
            moved, size = naive.rprop(last, weight, last_gradient, gradient[i], size, 1.2, 0.5)
            expected[i] = weight, moved, gradient[i], size
        assert weights.tolist() == [one[1] for one in expected]
        assert state["step"].tolist() == [one[3] for one in expected]


def test_steps_of_sgd_and_adagrad():
    steps = Steps.model_validate({"sgd": {"rate": 2.0}, "adagrad": {"rate": 0.5}})
    weights = {name: np.zeros(3) for name in ("sgd", "adagrad")}
    state = {name: {} for name in weights}
    for gradient in ([1.0, 0.0, -0.2], [1.0, 0.0, 0.0]):
        for name in weights:
            OPTIMIZERS[name](weights[name], np.array(gradient), state[name], steps)
    np.testing.assert_allclose(weights["sgd"], [4.0, 0.0, -0.4])
    np.testing.assert_allclose(weights["adagrad"], [0.5 + 0.5 / np.sqrt(2), 0.0, -0.5])


def random_lists(rng, n_events):
    def events():
        return rng.integers(0, n_events, rng.integers(1, 5)).tolist()

    return scored([[(rng.normal(), rng.random(), events()) for _ in range(8)] for _ in range(20)])


@pytest.mark.parametrize(("name", "iterations"), [("rprop", 25), ("adagrad", 40), ("sgd", 40)])
def test_every_optimizer_makes_the_objective_larger(name, iterations):
    steps = Steps.model_validate({"rprop": {"initial_step": 0.01}, "sgd": {"rate": 1.0}})
    lists = random_lists(np.random.default_rng(1), 30)
    objective = Objective(lists, [designed([[i] for i in range(30)])], 30, 1e-4)
    weights, state, values = np.zeros(30), {}, []
    for _ in range(iterations):
        value, gradient = objective.at(weights)
        OPTIMIZERS[name](weights, gradient, state, steps)
        values.append(value.objective)
    assert values[-1] > values[0] + 0.1
    assert np.mean(np.diff(values) >= 0) > 0.9


@pytest.mark.parametrize("seed", range(8))
def test_growth_transformation_keeps_sums_and_never_lowers_its_objective(seed):
    rng, n_pairs, tau = np.random.default_rng(seed), 12, 0.01
    lists, channels = random_lists(rng, n_pairs), []
    for ln_weight in (0.4, 1.0):
        given, prior = rng.integers(0, 4, n_pairs), rng.dirichlet(np.ones(n_pairs))
        channels.append(Channel(given, prior / np.bincount(given, prior)[given], ln_weight))
    found, ascent, values = tuple(channel.prior for channel in channels), None, []
    for _ in range(40):
        weights = sum(ln_ratio(channel, p) for channel, p in zip(channels, found))
        expected, gradient = expectations(lists, weights, 1.0, 1)
        away = sum(divergence(channel, p) for channel, p in zip(channels, found))
        ascent = ascend(ascent, np.log(expected) - tau * away, found, gradient / expected)
        found = step(tuple(channels), ascent, tau)
        values.append(ascent.value)
        for channel, p in zip(channels, found):
            assert p.min() > 0
            np.testing.assert_allclose(np.bincount(channel.given, p)[np.unique(channel.given)], 1.0)
    assert np.diff(values).min() >= 0
    assert values[-1] > values[0] + 0.05
    assert ascent.smoothing < 1000


def test_growth_of_distributions_that_were_cut_keeps_their_sums():
    channel = Channel(np.array([0, 0, 1, 2]), np.array([0.5, 0.2, 0.3, 0.0]), 1.0)
    grown = grow(channel, channel.prior, np.array([0.1, -0.1, 0.0, 0.2]), 0.0, 2.0)
    assert grown[0] > 0.5
    np.testing.assert_allclose([grown[:2].sum(), *grown[2:]], [0.7, 0.3, 0.0])
    np.testing.assert_allclose(ln_ratio(channel, grown)[3], 0.0)
