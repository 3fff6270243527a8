"""MERT's line search against brute force over all intervals, and the ascents that use it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.training.tuning.methods.envelope import intervals, line_search, new_changes
from phrasebeam.training.tuning.methods.mert import Mert, mert, near, new_space
from tests.naive import tuning as naive
from tests.training.nbest.lists import Case, Entry, cases

pytestmark = pytest.mark.kernels

# Eighths: crossings of lines are computed exactly enough that the naive twin and the kernel see the same intervals.
EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)


def lines(case, direction):
    problem = case.problem()
    return problem, problem.scores(problem.start), problem.scores(np.array(direction))


@given(cases(values=EIGHTHS), st.data())
@settings(max_examples=60)
def test_line_search_finds_the_best_interval(case, data):
    size = len(case.weights)
    direction = data.draw(st.lists(EIGHTHS, min_size=size, max_size=size))
    problem, a, b = lines(case, direction)
    step = line_search(problem.lists, problem.metric, a, b, new_changes(problem.lists))
    features, statistics = case.features(), case.statistics()
    assert step.score == pytest.approx(naive.best_on_line(features, statistics, case.weights, direction), abs=1e-9)
    # and the step leads there
    weights = problem.start + step.x * np.array(direction)
    assert problem.score_of(weights) == pytest.approx(step.score, abs=1e-9)


@given(cases(values=EIGHTHS), st.data())
@settings(max_examples=50)
def test_every_interval_against_a_fine_grid(case, data):
    size = len(case.weights)
    direction = data.draw(st.lists(EIGHTHS, min_size=size, max_size=size))
    problem, a, b = lines(case, direction)
    x, scores = intervals(problem.lists, problem.metric, a, b, new_changes(problem.lists))
    assert np.all(np.diff(x) >= 0)
    features, statistics = case.features(), case.statistics()
    for point in np.linspace(-5.03, 5.01, 41):
        if x.size and np.abs(x - point).min() < 1e-6:
            continue  # ties
        chosen = naive.best(features, naive.add(case.weights, direction, point))
        expected = naive.corpus_bleu(statistics, chosen)
        assert scores[np.searchsorted(x, point)] == pytest.approx(expected, abs=1e-9)


@given(cases())
@settings(max_examples=40)
def test_deviations_within_lists(case):
    problem = case.problem()
    expected = naive.deviations(case.features())
    np.testing.assert_allclose(problem.deviations(), expected, atol=1e-6)
    scores = [[[naive.dot(case.weights, h)] for h in rows] for rows in case.features()]
    assert problem.deviation_of(problem.scores(problem.start)) == pytest.approx(naive.deviations(scores)[0], abs=1e-6)


def test_noise_has_the_size_asked_for():
    rng = np.random.default_rng(1)
    lists = [[Entry("a", [float(x), 100 * float(y), 7.0]) for x, y in rng.normal(size=(6, 2))] for _ in range(50)]
    problem = Case(3, lists, [["a"] * 50], [1.0, 0.01, 1.0], 0).problem()
    space, scores = new_space(problem), problem.scores(problem.start)
    assert space.unit[2] == 0  # it is the same everywhere
    added = [problem.scores(near(problem, 0.1, space, problem.start, rng) - problem.start) for _ in range(300)]
    sizes = [problem.deviation_of(one) for one in added]
    assert np.sqrt(np.mean(np.square(sizes))) == pytest.approx(0.1 * problem.deviation_of(scores), rel=0.1)
    huge = 2.0**1000  # of which squares are not finite
    assert problem.deviation_of(scores * huge) == problem.deviation_of(scores) * huge


@given(cases(), st.integers(0, 2), st.integers(1, 2), st.data())
@settings(max_examples=40)
def test_mert_does_not_lose_whatever_is_fixed(case, restarts, threads, data):
    size = len(case.weights)
    tunable = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    problem = case.problem(threads, tunable)
    optimum = mert(problem, Mert(restarts=restarts, directions=2))
    assert problem.score_of(optimum.weights) >= problem.score_of(problem.start) - 1e-9
    assert optimum.weights[~problem.tunable].tolist() == problem.start[~problem.tunable].tolist()
    again = mert(case.problem(tunable=tunable), Mert(restarts=restarts, directions=2))
    assert optimum.weights.tolist() == again.weights.tolist()


def test_mert_leaves_what_is_fixed_and_keeps_the_scale():
    entries = [Entry("a b", [1.0, 0.0, 5.0]), Entry("c", [0.0, 1.0, 5.0])]
    case = Case(3, [entries], [["c"]], [1.0, -0.5, 2.0], 0)
    optimum = mert(case.problem(tunable=[True, True, False]), Mert(restarts=3, directions=0))
    assert case.problem().score_of(optimum.weights) == 0  # one word has no 4-gram
    better = Case(3, [entries[:1] + [Entry("c c c c", [0.0, 1.0, 5.0])]], [["c c c c"]], [1.0, -0.5, 2.0], 0)
    problem = better.problem(tunable=[True, True, False])
    optimum = mert(problem, Mert(restarts=3, directions=0))
    assert problem.score_of(problem.start) == 0
    assert problem.score_of(optimum.weights) == pytest.approx(1)
    assert optimum.weights[2] == 2.0
    assert np.abs(optimum.weights[:2]).sum() == pytest.approx(1.5)


def test_what_was_learned_beside_a_fixed_weight_keeps_its_size():
    entries = [Entry("a b c d", [1.0, 0.0]), Entry("a b c e", [0.0, 3.0])]
    problem = Case(2, [entries], [["a b c e"]], [8.0, 2.0], 0).problem(tunable=[False, True])
    optimum = mert(problem, Mert(restarts=0, directions=0))
    assert problem.score_of(problem.start) < 0.9
    assert problem.score_of(optimum.weights) == pytest.approx(1)
    assert optimum.weights[0] == 8.0
    assert optimum.weights[1] > 8 / 3
