"""Corpus-level MIRA (Tan et al. 2013, algorithm 1): one hope and one fear corpus, and one step, an epoch."""

import numpy as np

from lm.jit import kernel
from training.tuning.config import MiraCorpus
from training.tuning.linear import score_row
from training.tuning.problem import Optimum, Problem, in_threads


def mira_corpus(problem: Problem, settings: MiraCorpus) -> Optimum:
    """The averaged weights of the epoch in which they score best on the lists."""
    weights, total = problem.start.copy(), problem.start.copy()
    gains = problem.metric.sentence_scores(problem.lists.statistics)
    summed = np.zeros(
        problem.n_hypotheses
    )  # model scores by all weights so far: those of the average, times their number
    chosen = np.empty((3, problem.n_sentences), np.int64)
    best, most, n_updates = Optimum(problem.start, 0), -np.inf, 0
    bounds = problem.sentence_bounds()
    for epoch in range(settings.epochs + 1):

        def choose(i: int, weights: np.ndarray = weights) -> None:
            fill_chosen(problem.lists, weights, gains, int(bounds[i]), int(bounds[i + 1]), summed, chosen)

        in_threads(problem.threads, choose)
        score = problem.corpus_score(chosen[2])
        if epoch > 0 and score > most:
            most, best = score, Optimum(total / (epoch + 1), n_updates, epoch)
        step = corpus_step(problem, weights, chosen[0], chosen[1], settings.c)
        n_updates += bool(np.any(step))
        weights = weights + step
        total += weights
    return best._replace(n_updates=n_updates)


def corpus_step(problem: Problem, weights: np.ndarray, hope: np.ndarray, fear: np.ndarray, c: float) -> np.ndarray:
    """float64[F], what lines 9 to 12 add to the weights; hope and fear are a hypothesis of each sentence (int64[M]).

    Nothing where the step would lead away from the hope, or would be none.
    """
    share = np.full(problem.n_sentences, 1.0 / problem.n_sentences)
    difference = problem.feature_sum(fear, share) - problem.feature_sum(hope, share)  # delta H
    wanted = problem.corpus_score(hope) - problem.corpus_score(fear)  # delta B
    loss, norm = wanted + weights @ difference, difference @ difference
    if loss <= 0 or norm == 0:
        return np.zeros(weights.size)
    step: np.ndarray = -min(c, loss / norm) * difference
    return step


@kernel
def fill_chosen(lists, weights, gains, begin, end, summed, chosen):
    """Lines 3 to 8 for sentences begin:end: hope and fear (chosen[0], chosen[1]) by `weights` and `gains` (float64[H]).

    Model scores are added to `summed` (float64[H]); chosen[2] are the best hypotheses by that sum.
    """
    for i in range(begin, end):
        hope, fear, best = -np.inf, -np.inf, -np.inf
        for k in range(lists.first[i], lists.first[i + 1]):
            row = lists.row[k]
            score = score_row(lists, weights, row)
            summed[row] += score
            if score + gains[row] > hope:
                hope, chosen[0, i] = score + gains[row], row
            if score - gains[row] > fear:
                fear, chosen[1, i] = score - gains[row], row
            if summed[row] > best:
                best, chosen[2, i] = summed[row], row
