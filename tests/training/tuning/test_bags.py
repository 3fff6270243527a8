"""Problems of some of the sentences, means of weights, and optimizing on bootstrap samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.training.tuning.methods.bags import bagged, mean_of, of_sentences
from phrasebeam.training.tuning.methods.mira_corpus import MiraCorpus, mira_corpus
from phrasebeam.training.tuning.methods.problem import Optimum
from tests.naive import tuning as naive
from tests.training.nbest.lists import cases

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]


@given(cases(), st.data())
@settings(max_examples=60)
def test_some_of_the_sentences(case, data):
    n_sentences = len(case.sentences)
    chosen = data.draw(st.lists(st.integers(0, n_sentences - 1), min_size=1, max_size=7))
    part = of_sentences(case.problem(), np.array(chosen))
    features, statistics = ([whole[i] for i in chosen] for whole in (case.features(), case.statistics()))
    best = naive.best(features, case.weights)
    scores = [naive.dot(case.weights, one) for lists in features for one in lists]
    assert part.n_sentences == len(chosen)
    assert part.scores(part.start) == pytest.approx(scores, abs=1e-5)
    assert part.score_of(part.start) == pytest.approx(naive.corpus_bleu(statistics, best), abs=1e-6)
    # Each hypothesis keeps its statistics.
    assert part.lists.statistics.tolist() == [row for lists in statistics for row in lists]


def test_means_do_not_depend_on_scales():
    tunable = np.array([True, True, False])
    weights = [np.array([1.0, 3.0, 5.0]), np.array([-20.0, 20.0, 5.0])]
    # Sums of magnitudes of 4 and 40 become 22.
    assert mean_of(weights, tunable) == pytest.approx([(5.5 - 11) / 2, (16.5 + 11) / 2, 5.0])
    assert mean_of([np.zeros(3), np.zeros(3)], tunable).tolist() == [0.0, 0.0, 0.0]


@given(cases(), st.integers(1, 4))
@settings(max_examples=20)
def test_bags_are_means_over_bootstrap_samples(case, n_bags):
    problem, seen = case.problem(), []

    def optimize(part):
        seen.append(part)
        return Optimum(np.full(part.start.size, float(len(seen))), 2)

    found = bagged(problem, optimize, n_bags)
    assert found.n_updates == 2 * n_bags
    assert found.weights == pytest.approx(np.full(problem.start.size, (1 + n_bags) / 2))
    assert [part.n_sentences for part in seen] == [problem.n_sentences] * n_bags
    assert bagged(problem, lambda one: Optimum(one.start, 1), 0).weights is problem.start


@given(cases())
@settings(max_examples=15)
def test_bags_depend_on_the_seed_alone(case):
    def find(threads):
        return bagged(case.problem(threads), lambda one: mira_corpus(one, MiraCorpus(epochs=5)), 3).weights.tolist()

    assert find(1) == find(3)
