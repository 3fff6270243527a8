"""Batch MIRA (Cherry & Foster 2012): hope and fear of every sentence, a passive-aggressive step, averaged weights."""

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.tuning.methods.mira import Work, best_average, best_of, fill_list, move, remember
from phrasebeam.training.tuning.methods.problem import Optimum, Problem


class MiraBatch(Section):
    """Batch MIRA (Cherry & Foster 2012)."""

    c: float = Field(0.01, gt=0, description="largest step")
    decay: float = Field(0.999, ge=0, lt=1, description="of the pseudo-corpus, a sentence")
    epochs: int = Field(60, ge=1)


def mira_batch(problem: Problem, settings: MiraBatch) -> Optimum:
    """The averaged weights after the epoch after which they score best on the lists."""

    def epoch(order: np.ndarray, work: Work) -> int:
        return run_epoch(problem.lists, problem.metric.kind, order, settings.c, settings.decay, work)

    return best_average(problem, settings.epochs, epoch)


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
