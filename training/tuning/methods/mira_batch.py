"""Batch MIRA (Cherry & Foster 2012): hope and fear of every sentence, a passive-aggressive step, averaged weights."""

import numpy as np
from pydantic import Field

from phrasebeam.base.config import PositiveFactor, Section
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.mira import Work, best_average, best_of, fill_list, move, remember
from phrasebeam.training.tuning.methods.problem import MOST_EPOCHS, Optimum, Problem


class MiraBatch(Section):
    """Batch MIRA (Cherry & Foster 2012)."""

    c: PositiveFactor = Field(0.01, description="limit C of the step size")
    decay: float = Field(0.999, ge=0, lt=1, description="decay of the pseudo-corpus after each sentence")
    epochs: int = Field(60, ge=1, le=MOST_EPOCHS)


def mira_batch(problem: Problem, settings: MiraBatch) -> Optimum:
    """The averaged weights after an epoch that score best on the lists."""

    def epoch(order: np.ndarray, work: Work) -> int:
        return run_epoch(problem.lists, problem.metric.kind, order, settings.c, settings.decay, work)

    return best_average(problem, settings.epochs, epoch)


@kernel
def run_epoch(lists: Lists, kind, order, c, decay, work: Work):
    """Make a step at each sentence of `order` (int64[M]); return the number of steps that changed the weights.

    `kind` (int64): of the metric; `c` and `decay` (float64): as in the settings.
    """
    n_updates = 0
    for n in range(order.size):
        i = order[n]
        fill_list(lists, kind, i, work)
        first, size = lists.first[i], lists.first[i + 1] - lists.first[i]
        hope, fear = best_of(work, size, 1.0), best_of(work, size, -1.0)
        gain = work.gains[hope] - work.gains[fear]
        loss = gain - (work.scores[hope] - work.scores[fear])
        hope_row = lists.row[first + hope]
        if gain > 0.0 and loss > 0.0:
            n_updates += separate(lists, hope_row, lists.row[first + fear], loss, c, work)
        remember(lists, hope_row, decay, work)
    return n_updates


@inner_kernel
def separate(lists: Lists, hope, fear, loss, c, work: Work):
    """Make the smallest step after which the lead of the hope is larger by `loss` (float64), but at most `c` (float64).

    It is the step of PA-I (Crammer et al. 2006). `hope`, `fear`: int64, rows of hypotheses. Returns 1 if the weights
    changed, else 0.
    """
    norm = add_tracked(lists, hope, 1.0, work) + add_tracked(lists, fear, -1.0, work)
    step = min(c, loss / norm) if norm > 0.0 else 0.0
    move(lists, hope, step, work)
    move(lists, fear, step, work)
    return np.int64(step > 0.0)


@inlined_kernel
def add_tracked(lists: Lists, row, factor, work: Work):
    """Add `factor` (float64) times the tunable features of `row` (int64) to work.difference.

    Returns the increase of the squared norm of work.difference.
    """
    dense, grown = lists.dense[row], 0.0
    for j in range(dense.size):
        value = factor * work.tunable[j] * dense[j]
        grown += value * (2.0 * work.difference[j] + value)
        work.difference[j] += value
    for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        j = dense.size + np.int64(lists.sparse_column[z])
        value = factor * work.tunable[j] * lists.sparse_value[z]
        grown += value * (2.0 * work.difference[j] + value)
        work.difference[j] += value
    return grown
