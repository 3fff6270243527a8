"""Exact line search for corpus metrics (Och 2003), over all corpora that the weights w + x d choose for any x.

A hypothesis scores a + b x, where a = w . h and b = d . h; the best hypotheses of a sentence are the upper envelope of
these lines. Where the envelope changes from one line to another, the statistics of the corpus change by a known amount.
So the metric is known on every interval between two such points.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_store import Lists


class Step(NamedTuple):
    """The best point of a line search."""

    x: float  # distance along the direction
    score: float  # of the metric


class Changes(NamedTuple):
    """The points of a line where the best hypothesis of a sentence changes; at most one for each hypothesis."""

    x: Annotated[np.ndarray, array(np.float64, "H")]  # distance along the direction
    before: Annotated[np.ndarray, array(np.int64, "H")]  # best hypothesis before the point
    after: Annotated[np.ndarray, array(np.int64, "H")]  # best hypothesis after it
    first: Annotated[np.ndarray, array(np.int64, "M")]  # the best hypothesis of each sentence at -inf


def new_changes(lists: Lists) -> Changes:
    """Make arrays for the changes of `lists`."""
    return allocate(Changes, {"H": lists.row.size, "M": lists.first.size - 1})


@kernel
def fill_changes(lists: Lists, a, b, changes: Changes):
    """Fill `changes` from the upper envelope of each sentence, and return their number.

    Hypotheses score a + b x (`a`, `b`: float64[H]); of equal lines the first one counts. No list is empty.
    """
    count = 0
    for i in range(changes.first.size):
        begin, end = lists.first[i], lists.first[i + 1]
        now = lists.row[begin]
        for k in range(begin + 1, end):
            row = lists.row[k]
            if b[row] < b[now] or (b[row] == b[now] and a[row] > a[now]):
                now = row
        changes.first[i] = now
        x = -np.inf
        while True:
            nearest, taker = np.inf, np.int64(-1)
            for k in range(begin, end):
                row = lists.row[k]
                if b[row] > b[now]:
                    crossing = (a[now] - a[row]) / (b[row] - b[now])
                    if taker < 0 or crossing < nearest or (crossing == nearest and _is_above(a, b, row, taker)):
                        nearest, taker = crossing, row
            if taker < 0:
                break
            x = max(x, nearest)  # in spite of rounding errors, x must not decrease
            changes.x[count], changes.before[count], changes.after[count] = x, now, taker
            count += 1
            now = taker
    return count


@inner_kernel
def _is_above(a, b, row, other):
    """Whether `row` is above `other` to the right of the point where they cross."""
    return b[row] > b[other] or (b[row] == b[other] and a[row] > a[other])


def line_search(lists: Lists, metric: Metric, a: np.ndarray, b: np.ndarray, changes: Changes) -> Step:
    """The middle of the interval with the best corpus score; of several, the one nearest to 0.

    The outermost intervals have no middle; the point at distance 1 from their end is used. Hypotheses score a + b x
    (`a`, `b`: float64[H]); `changes` is work space.
    """
    x, scores = intervals(lists, metric, a, b, changes)
    if x.size == 0:
        return Step(0.0, float(scores[0]))
    middles = np.concatenate([[x[0] - 1.0], (x[:-1] + x[1:]) / 2, [x[-1] + 1.0]])
    ends = np.concatenate([[-np.inf], x, [np.inf]])
    allowed = (ends[:-1] < middles) & (middles < ends[1:])
    if not allowed.any():  # points are so far from 0 that there is no floating-point number between them
        return Step(0.0, float(scores[np.searchsorted(x, 0.0, side="right")]))
    best = scores[allowed].max()
    candidates = np.flatnonzero(allowed & (scores == best))
    chosen = candidates[np.argmin(np.abs(middles[candidates]))]
    return Step(float(middles[chosen]), float(best))


def intervals(
    lists: Lists, metric: Metric, a: np.ndarray, b: np.ndarray, changes: Changes
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted points of change (float64[I]) and the corpus scores of the intervals between them (float64[I + 1])."""
    count = fill_changes(lists, a, b, changes)
    order = np.argsort(changes.x[:count], kind="stable")
    statistics = lists.statistics
    deltas = statistics[changes.after[:count][order]].astype(np.float64)
    deltas -= statistics[changes.before[:count][order]]
    start = statistics[changes.first].sum(axis=0, dtype=np.float64)
    sums = start + np.vstack([np.zeros(start.size), np.cumsum(deltas, axis=0)])
    return changes.x[:count][order], metric.score(sums)
