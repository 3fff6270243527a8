"""MIRA with several constraints a sentence (Chiang et al. 2008), solved by SMO (Platt 1998); in batches.

Candidates of a sentence are those with the largest score, score + gain and score - gain. The least change of the
weights is sought after which the hope leads every other candidate by its loss, the difference of their gains; what is
missing costs C each. Its dual has a multiplier for each candidate, together C, at first all of it on the hope.
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.config import Section
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.ordering import rank
from phrasebeam.training.tuning.methods.linear import add_row
from phrasebeam.training.tuning.methods.mira import Work, best_average, best_of, fill_list, move, remember
from phrasebeam.training.tuning.methods.problem import Optimum, Problem


class MiraChiang(Section):
    """MIRA with several constraints a sentence (Chiang et al. 2008), in batches as in Tan et al. (2013)."""

    c: float = Field(0.01, gt=0, description="sum of the multipliers of a sentence")
    decay: float = Field(0.9, ge=0, lt=1, description="of the pseudo-document, a sentence")
    epochs: int = Field(40, ge=1)
    candidates: int = Field(10, ge=1, description="best by each of: score, score + gain, score - gain")
    tolerance: float = Field(1e-3, gt=0, description="by which constraints may be violated")


MOST_STEPS = 1000  # of SMO, a sentence
CRITERIA = 3


class HypothesisSets(NamedTuple):
    """Up to N candidates of one sentence, number 0 is the hope; the longest list has K hypotheses."""

    place: Annotated[np.ndarray, array(np.int64, "N")]  # in the list
    product: Annotated[np.ndarray, array(np.float64, "N", "N")]  # of their features
    violation: Annotated[np.ndarray, array(np.float64, "N")]  # loss minus lead of the hope
    multiplier: Annotated[np.ndarray, array(np.float64, "N")]
    criterion: Annotated[np.ndarray, array(np.float64, "K")]
    order: Annotated[np.ndarray, array(np.int64, "K")]
    is_chosen: Annotated[np.ndarray, array(np.uint8, "K")]  # 0 between sentences


def mira_chiang(problem: Problem, settings: MiraChiang) -> Optimum:
    """The averaged weights after the epoch after which they score best on the lists."""
    longest = int(np.diff(problem.lists.first).max())
    candidates = allocate(HypothesisSets, {"N": 1 + CRITERIA * settings.candidates, "K": longest})
    limits = settings.c, settings.decay, settings.tolerance, settings.candidates

    def epoch(order: np.ndarray, work: Work) -> int:
        return run_epoch(problem.lists, problem.metric.kind, order, limits, work, candidates)

    return best_average(problem, settings.epochs, epoch)


@kernel
def run_epoch(lists, kind, order, limits, work, candidates):
    """A quadratic program for every sentence, in the order given; steps of SMO taken."""
    c, decay, tolerance, n_best = limits
    n_steps = 0
    for k in range(order.size):
        i = order[k]
        fill_list(lists, kind, i, work)
        first, size = lists.first[i], lists.first[i + 1] - lists.first[i]
        count = choose(work, size, n_best, candidates)
        fill_products(lists, first, count, work, candidates)
        for j in range(count):
            place, hope = candidates.place[j], candidates.place[0]
            lead = work.scores[hope] - work.scores[place]
            candidates.violation[j] = work.gains[hope] - work.gains[place] - lead
            candidates.multiplier[j] = c if j == 0 else 0.0
        steps = solve(count, tolerance, candidates)
        if steps > 0:
            apply(lists, first, count, c, work, candidates)
        n_steps += steps
        best = lists.row[first + best_of(work, size, 0.0)]
        remember(lists, best, decay, work)
    return n_steps


@kernel
def choose(work, size, n_best, candidates):
    """The candidates of a list of `size`, the hope first, each once; their number."""
    count = np.int64(1)
    candidates.place[0] = best_of(work, size, 1.0)
    candidates.is_chosen[candidates.place[0]] = 1
    for factor in (0.0, 1.0, -1.0):
        for place in range(size):
            candidates.criterion[place] = work.scores[place] + factor * work.gains[place]
        rank(candidates.criterion, size, candidates.order)
        for k in range(min(n_best, size)):
            place = candidates.order[k]
            if not candidates.is_chosen[place]:
                candidates.is_chosen[place] = 1
                candidates.place[count] = place
                count += 1
    for j in range(count):
        candidates.is_chosen[candidates.place[j]] = 0
    return count


@inner_kernel
def fill_products(lists, first, count, work, candidates):
    """Products of the tunable features of all pairs of candidates; `work.difference` is 0 before and after."""
    vector = work.difference
    for j in range(count):
        row = lists.row[first + candidates.place[j]]
        add_row(lists, row, 1.0, vector)
        for k in range(j + 1):
            other = lists.row[first + candidates.place[k]]
            total = 0.0
            for f in range(lists.dense.shape[1]):
                total += vector[f] * lists.dense[other, f] * work.tunable[f]
            for place in range(lists.sparse_first[other], lists.sparse_first[other + 1]):
                f = lists.dense.shape[1] + np.int64(lists.sparse_column[place])
                total += vector[f] * lists.sparse_value[place] * work.tunable[f]
            candidates.product[j, k] = total
            candidates.product[k, j] = total
        clear_row(lists, row, vector)


@inner_kernel
def clear_row(lists, row, vector):
    """Make `vector` 0 where `row` has features."""
    for f in range(lists.dense.shape[1]):
        vector[f] = 0.0
    for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        vector[lists.dense.shape[1] + np.int64(lists.sparse_column[place])] = 0.0


@inner_kernel
def solve(count, tolerance, candidates):
    """Shift multipliers from the least violated constraint that has some to the most violated one; steps taken.

    Stops when the two differ by `tolerance` or less.
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
        for j in range(count):  # the weights move by shift times features of least minus most
            moved = product[j, least] - product[j, most] - product[0, least] + product[0, most]
            violation[j] += shift * moved
    return np.int64(MOST_STEPS)


@inner_kernel
def apply(lists, first, count, c, work, candidates):
    """Move the weights by what the multipliers say."""
    hope = lists.row[first + candidates.place[0]]
    add_row(lists, hope, c, work.difference)
    for j in range(count):
        add_row(lists, lists.row[first + candidates.place[j]], -candidates.multiplier[j], work.difference)
    for j in range(count):
        move(lists, lists.row[first + candidates.place[j]], 1.0, work)
