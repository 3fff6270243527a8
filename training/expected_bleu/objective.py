"""ln of expected BLEU over n-best lists, less the squares of the weights, and its gradient (Wuebker et al. 2015, 5.1).

O = ln <beta> - tau * |theta|^2 (Equation 9). <beta> is the mean over lists of the sum of p(E|F) beta(E), and p is the
softmax of model scores within a list. Features fire by events: an event is a phrase pair in a derivation with its
orientations, and fires all features that depend on them. So passes over lists deal with events only, and `designs` map
weights and gradients between events and features. Signs are those of optimizers.py.
"""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.kernels.jit import kernel

PARTS = 4  # parts of the lists, each with its own gradient, so that results do not depend on the number of threads
LISTS_AT_ONCE = 1 << 10


class ScoredLists(NamedTuple):
    """N n-best lists with H hypotheses and Z events in all; mapped from files, they may be larger than memory."""

    first: np.ndarray  # int64[N + 1], hypotheses of list n are first[n]:first[n + 1], one or more
    score: np.ndarray  # float32[H], model score without learned scores, minus that of the first hypothesis in the list
    bleu: np.ndarray  # float32[H], of the sentence
    event_first: np.ndarray  # int64[H + 1], events of hypothesis h are event[event_first[h]:event_first[h + 1]]
    event: np.ndarray  # int32[Z]


class Design(NamedTuple):
    """The features that each of E events fires, with repetitions; all designs together have F features."""

    first: np.ndarray  # int64[E + 1]
    feature: np.ndarray  # int32[...], those of event e are feature[first[e]:first[e + 1]]


class ObjectiveValue(NamedTuple):
    """The objective at some weights."""

    objective: float
    expected_bleu: float
    penalty: float  # multiplied by tau in the objective


@kernel
def add_expectations(lists: ScoredLists, begin, end, weights, scale, scratch, gradient, total):
    """Add the expected BLEU of each of the lists begin:end (int64) to total[0], and its derivatives to `gradient`.

    `gradient` (float64[E]): derivatives by the weights of events; `weights` (float64[E]): of events; `scale` (float64):
    factor of scores; `scratch`: float64, as long as the longest list; `total`: float64[1]. This is Equation 13, in two
    passes over a list.
    """
    for n in range(begin, end):
        start, stop = lists.first[n], lists.first[n + 1]
        best = -np.inf
        for h in range(start, stop):
            score = np.float64(lists.score[h])
            for z in range(lists.event_first[h], lists.event_first[h + 1]):
                score += weights[lists.event[z]]
            scratch[h - start] = scale * score
            best = max(best, scale * score)
        mass, expected = 0.0, 0.0
        for h in range(start, stop):
            scratch[h - start] = np.exp(scratch[h - start] - best)
            mass += scratch[h - start]
            expected += scratch[h - start] * lists.bleu[h]
        expected /= mass
        total[0] += expected
        for h in range(start, stop):
            amount = scale * scratch[h - start] / mass * (lists.bleu[h] - expected)
            for z in range(lists.event_first[h], lists.event_first[h + 1]):
                gradient[lists.event[z]] += amount


@kernel
def add_by_event(design: Design, weights, out):
    """Add to `out` (float64[E]) the sum of the `weights` (float64[F]) of the features that each event fires."""
    for e in range(out.size):
        total = 0.0
        for i in range(design.first[e], design.first[e + 1]):
            total += weights[design.feature[i]]
        out[e] += total


@kernel
def add_by_feature(design: Design, amounts, out):
    """Add the amount of each event (`amounts`, float64[E]) to `out` (float64[F]) for each feature that it fires."""
    for e in range(amounts.size):
        for i in range(design.first[e], design.first[e + 1]):
            out[design.feature[i]] += amounts[e]


def expectations(lists: ScoredLists, weights: np.ndarray, scale: float, threads: int) -> tuple[float, np.ndarray]:
    """<beta>, and its gradient by the weights of events (float64[E]).

    Takes memory for PARTS gradients, whatever the size of the lists.
    """
    n_lists = lists.first.size - 1
    ends = [part * n_lists // PARTS for part in range(PARTS + 1)]
    longest = max((int(np.diff(part).max(initial=0)) for part in _pieces(lists.first)), default=0)

    def add_part(part: int) -> tuple[float, np.ndarray]:
        total, gradient, scratch = np.zeros(1), np.zeros(weights.size), np.empty(longest)
        for begin in range(ends[part], ends[part + 1], LISTS_AT_ONCE):
            end = min(begin + LISTS_AT_ONCE, ends[part + 1])
            add_expectations(lists, begin, end, weights, scale, scratch, gradient, total)
        return float(total[0]), gradient

    expected, summed = 0.0, np.zeros(weights.size)
    with closing(current_engine().map(add_part, range(PARTS), threads, at_once=1)) as parts:
        for total, gradient in parts:
            expected += total
            summed += gradient
    return expected / n_lists, summed / n_lists


def _pieces(first: np.ndarray) -> Sequence[np.ndarray]:
    """Overlapping pieces of `first`; differences of the whole array would take too much memory."""
    return [first[i : i + (1 << 20) + 1] for i in range(0, first.size, 1 << 20)]


def ln_expected(expected: float) -> float:
    """ln <beta>. Raises ConfigError if <beta> is 0."""
    if expected <= 0.0:
        raise ConfigError(
            "no hypothesis has two adjacent words in common with its reference; give data that fit the model"
        )
    return math.log(expected)


@dataclass(frozen=True)
class Objective:
    """Equation 9 over some lists, and its gradient."""

    lists: ScoredLists
    designs: Sequence[Design]  # an event fires its features in all of them
    n_features: int
    tau: float
    scale: float = 1.0  # of model scores before they become probabilities
    threads: int = 1
    calibrated: np.ndarray | None = None  # float64[E], weights of events before learning; None: all 0

    def at(self, weights: np.ndarray) -> tuple[ObjectiveValue, np.ndarray]:
        """The value at `weights` (float64[F]), and the gradient (float64[F]). Raises ConfigError if <beta> is 0."""
        by_event = np.zeros(self.designs[0].first.size - 1) if self.calibrated is None else self.calibrated.copy()
        for design in self.designs:
            add_by_event(design, weights, by_event)
        expected, event_gradient = expectations(self.lists, by_event, self.scale, self.threads)
        ln_value, penalty = ln_expected(expected), float(weights @ weights)
        gradient = -2.0 * self.tau * weights
        event_gradient /= expected
        for design in self.designs:
            add_by_feature(design, event_gradient, gradient)
        return ObjectiveValue(ln_value - self.tau * penalty, expected, penalty), gradient
