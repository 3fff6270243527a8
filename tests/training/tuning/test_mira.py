"""The MIRA family, PRO and L-BFGS against their definitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from phrasebeam.base.array_struct import allocate
from phrasebeam.training.metrics.definitions import BLEU_KIND
from phrasebeam.training.tuning.methods import mira, mira_batch, mira_chiang
from phrasebeam.training.tuning.methods.lbfgs import minimize
from phrasebeam.training.tuning.methods.mira_batch import MiraBatch
from phrasebeam.training.tuning.methods.mira_chiang import MiraChiang
from phrasebeam.training.tuning.methods.mira_corpus import MiraCorpus, corpus_step, mira_corpus
from phrasebeam.training.tuning.methods.pro import Pro, loss, pro, sample
from tests.naive import tuning as naive
from tests.training.nbest.lists import Case, Entry, cases

pytestmark = pytest.mark.kernels

# Random reals: ties, which rounding may break either way, hardly ever occur.
REALS = st.integers(-(2**20), 2**20).map(lambda n: float(np.float32(n / 2**18)))


@given(cases(values=REALS), st.sampled_from([0.01, 0.3, 5.0]), st.sampled_from([0.0, 0.9, 0.999]), st.integers(0, 3))
@settings(max_examples=30)
def test_batch_mira(case, c, decay, seed):
    problem, rng = case.problem(), np.random.default_rng(seed)
    work, after, background = mira.new_work(problem), [], [1.0] * 10
    features, statistics, weights = case.features(), case.statistics(), case.weights
    for _ in range(3):
        order = rng.permutation(problem.n_sentences)
        mira_batch.run_epoch(problem.lists, BLEU_KIND, order, c, decay, work)
        after += naive.batch_mira_epoch(features, statistics, weights, order, c, decay, background)
        weights = after[-1]
        assert work.weights == pytest.approx(weights, abs=1e-6)
        assert mira.average(work) == pytest.approx(naive.mean(after), abs=1e-6)
        assert work.background == pytest.approx(background)
        assert not work.difference.any()


@pytest.mark.parametrize("gains", ["corpus", "sentence"])
@given(cases(values=REALS), st.sampled_from([1e-3, 0.1, 10.0]), st.integers(1, 3))
@settings(max_examples=30)
def test_corpus_mira(gains, case, c, threads):
    problem, epochs = case.problem(threads), 6
    averages = naive.corpus_mira(case.features(), case.statistics(), case.weights, c, epochs, gains)
    scores = [problem.score_of(np.array(weights)) for weights in averages]
    found = mira_corpus(problem, MiraCorpus(c=c, epochs=epochs, gains=gains))
    assert found.epoch == 1 + naive.argmax(scores[1:])  # the weights before are not chosen from
    assert found.weights == pytest.approx(averages[found.epoch], abs=1e-6)


@given(cases(values=REALS), st.sampled_from([1e-3, 0.1, 1e6]), st.data())
@settings(max_examples=30)
def test_the_step_of_corpus_mira_is_the_least_that_satisfies_its_constraint(case, c, data):
    problem = case.problem()
    lists = problem.lists
    hope, fear = (
        np.array([data.draw(st.sampled_from(lists.row[a:b].tolist())) for a, b in zip(lists.first, lists.first[1:])])
        for _ in range(2)
    )
    wanted = problem.corpus_score(hope) - problem.corpus_score(fear)
    share = np.full(hope.size, 1 / hope.size)
    lead = problem.feature_sum(hope, share) - problem.feature_sum(fear, share)
    step = corpus_step(problem, problem.start, hope, fear, c)
    after = problem.start + step
    if problem.start @ lead >= wanted or not lead.any():
        assert not step.any()
    elif lead @ lead * c >= wanted - problem.start @ lead:
        assert after @ lead == pytest.approx(wanted, abs=1e-9)  # just satisfied, and along `lead`: the least step
        assert np.linalg.norm(step) * np.linalg.norm(lead) == pytest.approx(step @ lead, abs=1e-9)
    else:
        assert step == pytest.approx(c * lead)


@given(cases(values=REALS), st.sampled_from([0.01, 1.0, 100.0]), st.integers(1, 6))
@settings(max_examples=30)
def test_smo_solves_the_quadratic_program(case, c, n_best):
    problem, tolerance = case.problem(), 1e-6
    lists = problem.lists
    for i in range(problem.n_sentences):
        work = mira.new_work(problem)
        candidates = allocate(mira_chiang.HypothesisSets, {"N": 1 + 3 * n_best, "K": work.scores.size})
        order, limits = np.array([i]), (c, 0.9, tolerance, n_best)
        steps = mira_chiang.run_epoch(lists, BLEU_KIND, order, limits, work, candidates)
        assume(steps < mira_chiang.MOST_STEPS)
        rows = lists.row[lists.first[i] : lists.first[i + 1]]
        before, statistics = problem.scores(problem.start)[rows], lists.statistics[rows]
        gains = np.array([naive.corpus((row + 1.0).tolist()) * (row[1] + 1.0) for row in statistics])
        ranked = [np.argsort(-(before + factor * gains), kind="stable")[:n_best] for factor in (0, 1, -1)]
        hope = int(np.argmax(before + gains))
        chosen = sorted({hope, *np.concatenate(ranked).tolist()})
        features = np.array([entry.features for entry in case.sentences[i]])
        difference = features[hope] - features[chosen]
        missing = gains[hope] - gains[chosen] - difference @ work.weights
        moved = work.weights - problem.start
        primal = moved @ moved / 2 + c * max(0.0, missing.max())
        # The multipliers give a lower bound of what they minimize; the two meet at the optimum.
        count = len(chosen)
        multiplier = dict(zip(candidates.position[:count].tolist(), candidates.multiplier[:count].tolist()))
        assert sorted(multiplier) == chosen
        assert sum(multiplier.values()) == pytest.approx(c)
        shares = np.array([multiplier[j] for j in chosen])
        losses = gains[hope] - gains[chosen] - difference @ problem.start
        dual = shares @ losses - (shares @ difference) @ (shares @ difference) / 2
        assert shares @ difference == pytest.approx(moved, abs=1e-6 * max(1, c))
        assert primal == pytest.approx(dual, abs=1e-5 * max(1, c))


@given(cases(values=REALS))
@settings(max_examples=20)
def test_the_loss_of_pro(case):
    problem = case.problem()
    pairs = sample(problem, Pro(samples=20, kept=5))
    gains = problem.metric.sentence_scores(problem.lists.statistics)
    assert np.all(gains[pairs.better] > gains[pairs.worse] + 0.05)
    value, gradient = loss(problem, pairs, problem.start, 0.5)
    lists, known = problem.lists, []
    place = {
        row: (i, j)
        for i in range(problem.n_sentences)
        for j, row in enumerate(lists.row[lists.first[i] : lists.first[i + 1]].tolist())
    }
    for better, worse in zip(pairs.better.tolist(), pairs.worse.tolist()):
        assert place[better][0] == place[worse][0]
        known.append((*place[better], place[worse][1]))
    features = case.features()
    assert value == pytest.approx(naive.pairwise_loss(features, known, case.weights, 0.5))
    for f in range(problem.start.size):
        nudge = np.eye(problem.start.size)[f] * 1e-5
        up, down = (naive.pairwise_loss(features, known, problem.start + s * nudge, 0.5) for s in (1, -1))
        assert gradient[f] == pytest.approx((up - down) / 2e-5, abs=1e-4)


@given(st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=20)
def test_lbfgs_finds_the_minimum_of_a_quadratic_function(size, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix, wanted = root @ root.T + 0.1 * np.eye(size), rng.normal(size=size)

    def function(point):
        away = point - wanted
        return float(away @ matrix @ away) / 2, matrix @ away

    found, steps = minimize(function, np.zeros(size), 200, 1e-8)
    assert found == pytest.approx(wanted, abs=1e-4)
    assert steps < 200


BETTER = [Entry("a b c d", [1.0, 0.0, 7.0]), Entry("x y z", [2.0, 0.5, 7.0])]


@pytest.mark.parametrize("method", ["batch", "chiang", "corpus", "pro"])
def test_every_method_learns_and_leaves_what_is_fixed(method):
    case = Case(2, [BETTER, BETTER[::-1]], [["a b c d"] * 2], [0.2, 0.2, 3.0], 0)
    problem = case.problem(tunable=[True, True, False])
    found = {
        "batch": lambda: mira_batch.mira_batch(problem, MiraBatch(c=1)),
        "chiang": lambda: mira_chiang.mira_chiang(problem, MiraChiang(c=1)),
        "corpus": lambda: mira_corpus(problem, MiraCorpus(c=1)),
        "pro": lambda: pro(problem, Pro(interpolation=1.0, penalty=0.01)),
    }[method]()
    assert problem.score_of(problem.start) == 0
    assert problem.score_of(found.weights) == pytest.approx(1)
    assert found.weights[2] == 3
    assert found.n_updates > 0


def test_pro_without_pairs_changes_nothing():
    case = Case(1, [[Entry("a", [1.0]), Entry("a", [2.0])]], [["a b"]], [1.0], 0)
    found = pro(case.problem(), Pro())
    assert (found.weights.tolist(), found.n_updates) == ([1.0], 0)


@pytest.mark.filterwarnings("ignore:invalid value")  # of plain Python, where compiled kernels say nothing
@given(cases(values=REALS), st.sampled_from([np.nan, -np.inf, np.inf]), st.integers(0, 3))
def test_the_best_of_a_list_is_one_of_it_whatever_the_scores(case, value, seed):
    problem, rng = case.problem(), np.random.default_rng(seed)
    scores = np.where(rng.random(problem.n_hypotheses) < 0.8, value, 0.0)
    for i, row in enumerate(problem.best(scores).tolist()):
        assert row in problem.lists.row[problem.lists.first[i] : problem.lists.first[i + 1]]
