"""Corpus-level MIRA (Tan et al. 2013, algorithm 1): each epoch has one hope corpus, one fear corpus and one step.

The hope and fear corpora are those of equations 5 and 6. The paper builds them from hypotheses that are chosen by the
smoothed BLEU of sentences (`gains: sentence`), which prefers short hypotheses (Nakov et al. 2012). By default (`gains:
corpus`) the equations themselves are maximized, one sentence after the other, starting from the corpora of the last
epoch.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import allocate
from phrasebeam.base.config import PositiveFactor, Section
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.metrics.definitions import BLEU_KIND
from phrasebeam.training.metrics.metric_scores import score_of_sums
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.bleu_bounds import SLACK, BleuBounds, fill_bounds
from phrasebeam.training.tuning.methods.problem import MOST_EPOCHS, Optimum, Problem, in_threads


class MiraCorpus(Section):
    """Corpus-level MIRA (Tan et al. 2013)."""

    c: PositiveFactor = Field(1.0, description="limit C of the step size")
    epochs: int = Field(400, ge=1, le=MOST_EPOCHS)
    gains: Literal["corpus", "sentence"] = Field(
        "corpus",
        description="choose hope and fear by the score of the whole corpus, or of each sentence, as in the paper",
    )


Choice = Callable[[np.ndarray], np.ndarray]  # from model scores (float64[H]) to hope and fear corpora (int64[2, M])


def mira_corpus(problem: Problem, settings: MiraCorpus) -> Optimum:
    """The averaged weights of the epoch in which they score best on the lists."""
    weights, total = problem.start.copy(), problem.start.copy()
    choose = by_sentence(problem) if settings.gains == "sentence" else by_corpus(problem)
    summed = np.zeros(problem.n_hypotheses)  # sum of the scores by all weights so far
    best, most, n_updates = Optimum(problem.start, 0), -np.inf, 0
    for epoch in range(settings.epochs + 1):
        scores = problem.scores(weights)
        summed += scores
        score = problem.corpus_score(problem.best(summed))
        if epoch > 0 and score > most:
            most, best = score, Optimum(np.where(problem.tunable, total / (epoch + 1), problem.start), n_updates, epoch)
        hope, fear = choose(scores)
        step = corpus_step(problem, weights, hope, fear, settings.c)
        n_updates += bool(np.any(step))
        weights = weights + step
        total += weights
    return best._replace(n_updates=n_updates)


def by_sentence(problem: Problem) -> Choice:
    """Choice of hope and fear by smoothed sentence scores (algorithm 1, lines 4 and 5)."""
    gains = problem.metric.sentence_scores(problem.lists.statistics)
    return lambda scores: np.array([problem.best(scores, gains, factor) for factor in (1.0, -1.0)])


def by_corpus(problem: Problem) -> Choice:
    """Choice of hope and fear by corpus scores (equations 5 and 6); a call starts from the corpora of the last one."""
    corpora = np.tile(problem.best(problem.scores(problem.start)), (2, 1))
    columns = np.ascontiguousarray(problem.lists.statistics[problem.lists.row].T)
    bounds = [allocate(BleuBounds, {"K": problem.longest}, columns=columns) for _ in corpora]

    def choose(scores: np.ndarray) -> np.ndarray:
        def improve(i: int) -> None:
            rows, factor = corpora[i], (1.0, -1.0)[i]
            sums = problem.lists.statistics[rows].sum(axis=0, dtype=np.float64)
            work = sums, np.empty_like(sums), rows, bounds[i]
            improve_corpus(problem.lists, problem.metric.kind, scores, factor, *work)

        in_threads(problem.threads, improve, len(corpora))
        return corpora

    return choose


def corpus_step(problem: Problem, weights: np.ndarray, hope: np.ndarray, fear: np.ndarray, c: float) -> np.ndarray:
    """The step that lines 9 to 12 add to the weights (float64[F]).

    `hope`, `fear`: int64[M], one hypothesis for each sentence. The step is 0 if the hope already leads by enough, or if
    hope and fear have the same features.
    """
    share = np.full(problem.n_sentences, 1.0 / problem.n_sentences)
    difference = problem.feature_sum(fear, share) - problem.feature_sum(hope, share)  # delta H
    gain = problem.corpus_score(hope) - problem.corpus_score(fear)  # delta B
    loss, norm = gain + weights @ difference, difference @ difference
    if loss <= 0 or norm == 0:
        return np.zeros(weights.size)
    step: np.ndarray = -min(c, loss / norm) * difference
    return step


@kernel
def improve_corpus(lists: Lists, kind, scores, factor, sums, changed, rows, bounds: BleuBounds):
    """Maximize equations 5 and 6, one sentence after the other; the hypotheses of all other sentences stay the same.

    `kind`: int64, of the metric; `scores`: float64[H]; `factor`: 1 for the hope, -1 for the fear (float64); `rows`:
    int64[M], the corpus before and after; `sums`: float64[S], sums of its statistics; `changed`: float64[S], work
    space. Hypotheses that cannot be better than the current one, by `bounds`, are skipped.
    """
    factor *= rows.size
    for i in range(rows.size):
        before, first, size = rows[i], lists.first[i], lists.first[i + 1] - lists.first[i]
        score = score_of_sums(kind, sums)
        if kind == BLEU_KIND:
            fill_bounds(bounds, first, size, sums, lists.statistics[before], score, factor)
        for s in range(sums.size):
            sums[s] -= lists.statistics[before, s]
        most, least = -np.inf, scores[before] + (factor * score - abs(factor) * SLACK)
        for j in range(size):
            row = lists.row[first + j]
            if scores[row] + bounds.bound[j] < least:
                continue
            for s in range(sums.size):
                changed[s] = sums[s] + lists.statistics[row, s]
            value = scores[row] + factor * score_of_sums(kind, changed)
            if value > most:
                most, rows[i] = value, row
                least = max(least, value)
        for s in range(sums.size):
            sums[s] += lists.statistics[rows[i], s]
