"""Batch MIRA (Cherry & Foster 2012): hope and fear of every sentence, a passive-aggressive step, averaged weights.

The gain of a hypothesis is the score of a pseudo-corpus to which it is added, times the words of its reference; the
pseudo-corpus is what was hoped for before, decayed (Chiang et al. 2008).
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.config import Section
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.metrics.metric_scores import score_of_sums
from phrasebeam.training.tuning.methods.linear import score_row
from phrasebeam.training.tuning.methods.problem import Optimum, Problem


class MiraBatch(Section):
    """Batch MIRA (Cherry & Foster 2012)."""

    c: float = Field(0.01, gt=0, description="largest step")
    decay: float = Field(0.999, ge=0, lt=1, description="of the pseudo-corpus, a sentence")
    epochs: int = Field(60, ge=1)


class Work(NamedTuple):
    """State and work space of MIRA methods that go from sentence to sentence; the longest list has K hypotheses."""

    weights: Annotated[np.ndarray, array(np.float64, "F")]
    # Sum over all updates of update times the sentences seen before it
    late: Annotated[np.ndarray, array(np.float64, "F")]
    tunable: Annotated[np.ndarray, array(np.float64, "F")]  # 1, or 0 for what keeps its weight
    background: Annotated[np.ndarray, array(np.float64, "S", fill=1)]  # statistics of the pseudo-corpus
    sums: Annotated[np.ndarray, array(np.float64, "S")]
    scores: Annotated[np.ndarray, array(np.float64, "K")]
    gains: Annotated[np.ndarray, array(np.float64, "K")]
    difference: Annotated[np.ndarray, array(np.float64, "F")]  # 0 between updates
    n_seen: Annotated[np.ndarray, array(np.int64, 1)]  # sentences


def new_work(problem: Problem) -> Work:
    """The state before the first sentence."""
    n_features, n_statistics = problem.start.size, problem.metric.n_statistics
    longest = int(np.diff(problem.lists.first).max())
    sizes = {"F": n_features, "S": n_statistics, "K": longest}
    return allocate(Work, sizes, weights=problem.start.copy(), tunable=problem.tunable.astype(np.float64))


def average(work: Work) -> np.ndarray:
    """float64[F] mean of the weights after each sentence."""
    return work.weights - work.late / max(1, int(work.n_seen[0]))


def mira_batch(problem: Problem, settings: MiraBatch) -> Optimum:
    """The averaged weights after the epoch after which they score best on the lists."""
    work, n_updates = new_work(problem), 0
    best, most = Optimum(problem.start, 0), -np.inf
    for epoch in range(1, settings.epochs + 1):
        order = problem.rng.permutation(problem.n_sentences)
        n_updates += int(run_epoch(problem.lists, problem.metric.kind, order, settings.c, settings.decay, work))
        weights = average(work)
        score = problem.score_of(weights)
        if score > most:
            most, best = score, Optimum(weights, n_updates, epoch)
    return best._replace(n_updates=n_updates)


@kernel
def run_epoch(lists, kind, order, c, decay, work):
    """A step for every sentence, in the order given; how many moved the weights."""
    n_updates = 0
    for place in range(order.size):
        i = order[place]
        fill_list(lists, kind, i, work)
        first, size = lists.first[i], lists.first[i + 1] - lists.first[i]
        hope, fear = best_of(work, size, 1.0), best_of(work, size, -1.0)
        wanted = work.gains[hope] - work.gains[fear]
        loss = wanted - (work.scores[hope] - work.scores[fear])
        hope_row = lists.row[first + hope]
        if wanted > 0.0 and loss > 0.0:
            n_updates += separate(lists, hope_row, lists.row[first + fear], loss, c, work)
        remember(lists, hope_row, decay, work)
    return n_updates


@inner_kernel
def fill_list(lists, kind, i, work):
    """Model scores and gains of the hypotheses of sentence `i`."""
    for k in range(lists.first[i], lists.first[i + 1]):
        row = lists.row[k]
        for s in range(work.sums.size):
            work.sums[s] = work.background[s] + lists.statistics[row, s]
        place = k - lists.first[i]
        work.scores[place] = score_row(lists, work.weights, row)
        work.gains[place] = score_of_sums(kind, work.sums) * work.sums[1]


@inner_kernel
def best_of(work, size, factor):
    """Place of the largest score + factor * gain in the list, the first of several."""
    found = np.int64(0)
    for place in range(1, size):
        lead = work.scores[place] - work.scores[found] + factor * (work.gains[place] - work.gains[found])
        if lead > 0.0:
            found = np.int64(place)
    return found


@inner_kernel
def separate(lists, hope, fear, loss, c, work):
    """The least step, at most `c`, after which the hope leads by so much more (PA-I, Crammer et al. 2006); 1 if any."""
    norm = add_tracked(lists, hope, 1.0, work) + add_tracked(lists, fear, -1.0, work)
    step = min(c, loss / norm) if norm > 0.0 else 0.0
    move(lists, hope, step, work)
    move(lists, fear, step, work)
    return np.int64(step > 0.0)


@inlined_kernel
def add_tracked(lists, row, factor, work):
    """Add the tunable features of `row` to the difference; by how much its squared norm grows."""
    dense, grown = lists.dense[row], 0.0
    for j in range(dense.size):
        value = factor * work.tunable[j] * dense[j]
        grown += value * (2.0 * work.difference[j] + value)
        work.difference[j] += value
    for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        j = dense.size + np.int64(lists.sparse_column[place])
        value = factor * work.tunable[j] * lists.sparse_value[place]
        grown += value * (2.0 * work.difference[j] + value)
        work.difference[j] += value
    return grown


@inlined_kernel
def move(lists, row, step, work):
    """Move the weights of the features of `row` along the difference, and make that 0 there."""
    n_dense, seen = lists.dense.shape[1], work.n_seen[0]
    for j in range(n_dense):
        _move_weight(j, step, seen, work)
    for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        _move_weight(n_dense + np.int64(lists.sparse_column[place]), step, seen, work)


@inlined_kernel
def _move_weight(j, step, seen, work):
    moved = step * work.difference[j]
    work.weights[j] += moved
    work.late[j] += seen * moved
    work.difference[j] = 0.0


@inner_kernel
def remember(lists, row, decay, work):
    """Let the pseudo-corpus decay, and add a hypothesis to it."""
    for s in range(work.background.size):
        work.background[s] = decay * work.background[s] + lists.statistics[row, s]
    work.n_seen[0] += 1
