"""MIRA with several constraints per sentence (Chiang et al. 2008), solved by SMO (Platt 1998); in batches.

Candidates of a sentence are the hypotheses with the largest score, score + gain and score - gain. The hope shall lead
every other candidate by a loss, the difference of their gains. The step of a sentence is the smallest change of the
weights after which it does; the largest remaining violation costs C times its size. The dual problem has a multiplier
for each candidate; their sum is C, and at first the hope has all of it.
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.config import PositiveFactor, Section
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.ordering import rank
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.linear import add_row
from phrasebeam.training.tuning.methods.mira import Work, best_average, best_of, fill_list, move, remember
from phrasebeam.training.tuning.methods.problem import MOST_EPOCHS, Optimum, Problem


class MiraChiang(Section):
    """MIRA with several constraints per sentence (Chiang et al. 2008), in batches as in Tan et al. (2013)."""

    c: PositiveFactor = Field(0.01, description="limit C of the sum of a sentence's multipliers")
    decay: float = Field(0.9, ge=0, lt=1, description="decay of the pseudo-document after each sentence")
    epochs: int = Field(40, ge=1, le=MOST_EPOCHS)
    candidates: int = Field(
        10, ge=1, le=1000, description="number of candidates by each of score, score + gain, and score - gain"
    )
    tolerance: PositiveFactor = Field(1e-3, description="largest violation of a constraint that is tolerated")


MOST_STEPS = 1000  # of SMO, for each sentence
CRITERIA = 3


class HypothesisSets(NamedTuple):
    """Up to N candidates of one sentence, number 0 is the hope; the longest list has K hypotheses."""

    position: Annotated[np.ndarray, array(np.int64, "N")]  # in the list
    product: Annotated[np.ndarray, array(np.float64, "N", "N")]  # scalar products of their features
    violation: Annotated[np.ndarray, array(np.float64, "N")]  # loss minus lead of the hope
    multiplier: Annotated[np.ndarray, array(np.float64, "N")]  # of the dual
    criterion: Annotated[np.ndarray, array(np.float64, "K")]  # score + factor * gain
    order: Annotated[np.ndarray, array(np.int64, "K")]  # positions in the list, sorted by criterion
    is_chosen: Annotated[np.ndarray, array(np.uint8, "K")]  # 0 between sentences


def mira_chiang(problem: Problem, settings: MiraChiang) -> Optimum:
    """The averaged weights after an epoch that score best on the lists."""
    longest = problem.longest
    candidates = allocate(HypothesisSets, {"N": 1 + CRITERIA * settings.candidates, "K": longest})
    limits = settings.c, settings.decay, settings.tolerance, settings.candidates

    def epoch(order: np.ndarray, work: Work) -> int:
        return run_epoch(problem.lists, problem.metric.kind, order, limits, work, candidates)

    return best_average(problem, settings.epochs, epoch)


@kernel
def run_epoch(lists: Lists, kind, order, limits, work: Work, candidates: HypothesisSets):
    """Solve a quadratic program at each sentence of `order` (int64[M]), and return the number of SMO steps.

    `kind` (int64): of the metric; `limits`: (C, decay, tolerance, number of candidates by each criterion).
    """
    c, decay, tolerance, n_best = limits
    n_steps = 0
    for k in range(order.size):
        i = order[k]
        fill_list(lists, kind, i, work)
        first, size = lists.first[i], lists.first[i + 1] - lists.first[i]
        count = choose(work, size, n_best, candidates)
        fill_products(lists, first, count, work, candidates)
        for j in range(count):
            position, hope = candidates.position[j], candidates.position[0]
            lead = work.scores[hope] - work.scores[position]
            candidates.violation[j] = work.gains[hope] - work.gains[position] - lead
            candidates.multiplier[j] = c if j == 0 else 0.0
        steps = solve(count, tolerance, candidates)
        if steps > 0:
            apply(lists, first, count, c, work, candidates)
        n_steps += steps
        best = lists.row[first + best_of(work, size, 0.0)]
        remember(lists, best, decay, work)
    return n_steps


@kernel
def choose(work: Work, size, n_best, candidates: HypothesisSets):
    """Choose the `n_best` (int64) candidates by each criterion from a list of `size` (int64); return their number.

    The hope is the first candidate; no candidate is repeated.
    """
    count = np.int64(1)
    candidates.position[0] = best_of(work, size, 1.0)
    candidates.is_chosen[candidates.position[0]] = 1
    for factor in (0.0, 1.0, -1.0):
        for position in range(size):
            candidates.criterion[position] = work.scores[position] + factor * work.gains[position]
        rank(candidates.criterion, size, candidates.order)
        for k in range(min(n_best, size)):
            position = candidates.order[k]
            if not candidates.is_chosen[position]:
                candidates.is_chosen[position] = 1
                candidates.position[count] = position
                count += 1
    for j in range(count):
        candidates.is_chosen[candidates.position[j]] = 0
    return count


@inner_kernel
def fill_products(lists: Lists, first, count, work: Work, candidates: HypothesisSets):
    """Fill candidates.product with the scalar products of tunable features of all pairs of candidates.

    There are `count` (int64) candidates, of the list that begins at `first` (int64). work.difference is 0 before and
    after.
    """
    vector = work.difference
    for j in range(count):
        row = lists.row[first + candidates.position[j]]
        add_row(lists, row, 1.0, vector)
        for k in range(j + 1):
            other = lists.row[first + candidates.position[k]]
            total = 0.0
            for f in range(lists.dense.shape[1]):
                total += vector[f] * lists.dense[other, f] * work.tunable[f]
            for z in range(lists.sparse_first[other], lists.sparse_first[other + 1]):
                f = lists.dense.shape[1] + np.int64(lists.sparse_column[z])
                total += vector[f] * lists.sparse_value[z] * work.tunable[f]
            candidates.product[j, k] = total
            candidates.product[k, j] = total
        clear_row(lists, row, vector)


@inner_kernel
def clear_row(lists: Lists, row, vector):
    """Set the elements of `vector` (float64[F]) to 0 for the features of the hypothesis `row` (int64)."""
    for f in range(lists.dense.shape[1]):
        vector[f] = 0.0
    for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        vector[lists.dense.shape[1] + np.int64(lists.sparse_column[z])] = 0.0


@inner_kernel
def solve(count, tolerance, candidates: HypothesisSets):
    """Optimize the multipliers of `count` (int64) candidates by SMO, and return the number of steps (int64).

    Each step shifts weight from the least violated constraint with a multiplier above 0 to the most violated one, until
    these two violations differ by `tolerance` (float64) or less.
    """
    violation, multiplier, product = candidates.violation, candidates.multiplier, candidates.product
    for step in range(MOST_STEPS):
        most, least = np.int64(0), np.int64(-1)
        for j in range(count):
            if violation[j] > violation[most]:
                most = np.int64(j)
            if multiplier[j] > 0.0 and (least < 0 or violation[j] < violation[least]):
                least = np.int64(j)
        gap = violation[most] - violation[least]
        if gap <= tolerance:
            return np.int64(step)
        norm = product[most, most] + product[least, least] - 2.0 * product[most, least]
        shift = multiplier[least]
        if norm > 0.0:
            shift = min(shift, gap / norm)
        multiplier[most] += shift
        multiplier[least] -= shift
        for j in range(count):  # the weights change by shift * (features of least - features of most)
            moved = product[j, least] - product[j, most] - product[0, least] + product[0, most]
            violation[j] += shift * moved
    return np.int64(MOST_STEPS)


@inner_kernel
def apply(lists: Lists, first, count, c, work: Work, candidates: HypothesisSets):
    """Add the solution of the dual to the weights: `c` * features of the hope - sum of multiplier * features.

    `c`: float64. The sum is over the `count` (int64) candidates of the list that begins at `first` (int64).
    """
    hope = lists.row[first + candidates.position[0]]
    add_row(lists, hope, c, work.difference)
    for j in range(count):
        add_row(lists, lists.row[first + candidates.position[j]], -candidates.multiplier[j], work.difference)
    for j in range(count):
        move(lists, lists.row[first + candidates.position[j]], 1.0, work)
