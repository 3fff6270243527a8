"""The common part of the MIRA methods that make a step at each sentence: gains of hypotheses, and averaged weights.

The gain of a hypothesis is the score of a pseudo-corpus to which it is added, times the number of reference words in
the result. The pseudo-corpus is the decayed sum of the statistics of hypotheses chosen before (Chiang et al. 2008).
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.training.metrics.metric_scores import score_of_sums
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.linear import score_row
from phrasebeam.training.tuning.methods.problem import Optimum, Problem


class Work(NamedTuple):
    """State and work space of MIRA methods that go from sentence to sentence; the longest list has K hypotheses."""

    weights: Annotated[np.ndarray, array(np.float64, "F")]
    # Sum over all updates of the update times the number of sentences seen before it
    late: Annotated[np.ndarray, array(np.float64, "F")]
    tunable: Annotated[np.ndarray, array(np.float64, "F")]  # 1; 0 for features that keep their weights
    background: Annotated[np.ndarray, array(np.float64, "S", fill=1)]  # statistics of the pseudo-corpus
    sums: Annotated[np.ndarray, array(np.float64, "S")]  # pseudo-corpus with one more hypothesis
    scores: Annotated[np.ndarray, array(np.float64, "K")]  # model scores of the list
    gains: Annotated[np.ndarray, array(np.float64, "K")]  # gains of the list, see above
    difference: Annotated[np.ndarray, array(np.float64, "F")]  # 0 between updates
    n_seen: Annotated[np.ndarray, array(np.int64, 1)]  # number of sentences so far


def new_work(problem: Problem) -> Work:
    """The state before the first sentence."""
    n_features, n_statistics = problem.start.size, problem.metric.n_statistics
    longest = problem.longest
    sizes = {"F": n_features, "S": n_statistics, "K": longest}
    return allocate(Work, sizes, weights=problem.start.copy(), tunable=problem.tunable.astype(np.float64))


def average(work: Work) -> np.ndarray:
    """The mean of the weights after each sentence (float64[F])."""
    return work.weights - work.late / max(1, int(work.n_seen[0]))


def best_average(problem: Problem, epochs: int, run_epoch: Callable[[np.ndarray, Work], int]) -> Optimum:
    """Run all epochs, and return the averaged weights after an epoch that score best on the lists.

    `run_epoch` visits all sentences in the given order (int64[M]), and returns the number of steps.
    """
    work, n_updates = new_work(problem), 0
    best, most = Optimum(problem.start, 0), -np.inf
    for epoch in range(1, epochs + 1):
        n_updates += int(run_epoch(problem.rng.permutation(problem.n_sentences), work))
        weights = average(work)
        score = problem.score_of(weights)
        if score > most:
            most, best = score, Optimum(weights, n_updates, epoch)
    return best._replace(n_updates=n_updates)


@inner_kernel
def fill_list(lists: Lists, kind, i, work: Work):
    """Fill model scores and gains of the hypotheses of sentence `i` (int64) by the metric `kind` (int64)."""
    for k in range(lists.first[i], lists.first[i + 1]):
        row = lists.row[k]
        for s in range(work.sums.size):
            work.sums[s] = work.background[s] + lists.statistics[row, s]
        position = k - lists.first[i]
        work.scores[position] = score_row(lists, work.weights, row)
        work.gains[position] = score_of_sums(kind, work.sums) * work.sums[1]


@inner_kernel
def best_of(work: Work, size, factor):
    """Position (int64) of the first hypothesis with the largest score + factor * gain in a list of `size` (int64)."""
    best = np.int64(0)
    for position in range(1, size):
        lead = work.scores[position] - work.scores[best] + factor * (work.gains[position] - work.gains[best])
        if lead > 0.0:
            best = np.int64(position)
    return best


@inlined_kernel
def move(lists: Lists, row, step, work: Work):
    """Add `step` (float64) * work.difference to the weights of the features of `row` (int64), and set it to 0 there."""
    n_dense, seen = lists.dense.shape[1], work.n_seen[0]
    for j in range(n_dense):
        _move_weight(j, step, seen, work)
    for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        _move_weight(n_dense + np.int64(lists.sparse_column[z]), step, seen, work)


@inlined_kernel
def _move_weight(j, step, seen, work):
    moved = step * work.difference[j] * work.tunable[j]
    work.weights[j] += moved
    work.late[j] += seen * moved
    work.difference[j] = 0.0


@inner_kernel
def remember(lists: Lists, row, decay, work: Work):
    """Multiply the pseudo-corpus by `decay` (float64), and add the statistics of the hypothesis `row` (int64)."""
    for s in range(work.background.size):
        work.background[s] = decay * work.background[s] + lists.statistics[row, s]
    work.n_seen[0] += 1
