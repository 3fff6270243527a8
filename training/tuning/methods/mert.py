"""Minimum error rate training (Och 2003): exact line searches on the metric of the corpus, from several starts.

The first starts are near the current weights, later ones near the best weights so far: a little noise from there leads
to better scores than any other start. Noise and random directions are scaled by how much features differ within lists.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Factor, Section
from phrasebeam.base.memory_bound import memory_left
from phrasebeam.training.tuning.methods.envelope import line_search, new_changes
from phrasebeam.training.tuning.methods.linear import fill_scores
from phrasebeam.training.tuning.methods.problem import Optimum, Problem

MOST_LINES = 100_000  # line searches in a round; each is a pass over all lists


class Mert(Section):
    """Minimum error rate training (Och 2003)."""

    restarts: int = Field(
        12, ge=0, le=MOST_LINES, description="number of random starting points in addition to the current weights"
    )
    noise: Factor = Field(
        0.1,
        description="size of the random change of a starting point: the standard deviation of the changes in model "
        "score, relative to that of the scores",
    )
    coordinates: int = Field(
        50,
        ge=0,
        le=MOST_LINES,
        description="single features searched along in each round, chosen at random if there are more",
    )
    directions: int = Field(
        10, ge=0, le=MOST_LINES, description="number of random directions searched in addition in each round"
    )
    min_gain: float = Field(
        1e-4, ge=0, le=1, description="stop when a round gains less than this in score, which is at most 1"
    )


GENERATION = 4  # parallel ascents; a fixed number, so that the result does not depend on the number of threads


class Ascent(NamedTuple):
    """The result of hill climbing from one starting point."""

    weights: np.ndarray  # float64[F]
    score: float  # of the metric
    n_updates: int  # number of line searches that improved the score


class Space(NamedTuple):
    """Data that all ascents share: scales of the features, and the dense features by column."""

    unit: np.ndarray  # float64[F], 1 / deviation within lists; 0 for features that never differ or are not tunable
    columns: np.ndarray  # float32[D, H], dense features
    free: bool  # whether all features that differ within lists are tunable: then a factor of all weights has no effect


def mert(problem: Problem, settings: Mert) -> Optimum:
    """The best of all ascents (of equal ones, the first), scaled to the sum of absolute weights of the start.

    The score of a corpus does not depend on that scale, but the pruning of the search does. The result is not scaled if
    features with fixed weights differ within lists.
    """
    space, generators = new_space(problem), problem.rng.spawn(settings.restarts + 1)
    best = ascend(problem, settings, space, problem.start, generators[0])
    n_updates = best.n_updates
    with ThreadPoolExecutor(problem.threads) as pool:
        for begin in range(1, len(generators), GENERATION):
            chosen = generators[begin : begin + GENERATION]
            starts = [near(problem, settings.noise, space, best.weights, generator) for generator in chosen]
            tasks = zip(starts, chosen)
            ascents = list(pool.map(lambda task: ascend(problem, settings, space, *task), tasks))
            n_updates += sum(ascent.n_updates for ascent in ascents)
            best = max([best, *ascents], key=lambda ascent: ascent.score)
    weights = rescaled(best.weights, problem.start, problem.tunable) if space.free else best.weights
    return Optimum(weights, n_updates)


def new_space(problem: Problem) -> Space:
    """Make the space of the tunable features that differ within lists."""
    deviations, dense = problem.deviations(), problem.lists.dense
    differs = deviations > 0
    unit = np.divide(1.0, deviations, out=np.zeros(deviations.size), where=differs & problem.tunable)
    columns = np.ascontiguousarray(dense.T) if dense.nbytes <= memory_left(problem.memory) else dense.T
    return Space(unit, columns, not np.any(differs & ~problem.tunable))


def rescaled(weights: np.ndarray, like: np.ndarray, tunable: np.ndarray) -> np.ndarray:
    """`weights`, scaled to the sum of absolute values of `like`; weights that are not tunable do not change."""
    size, expected = np.abs(weights[tunable]).sum(), np.abs(like[tunable]).sum()
    if size == 0 or expected == 0:
        return weights
    return np.where(tunable, weights * (expected / size), weights)


def near(problem: Problem, noise: float, space: Space, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random weights near `weights`: scores change by about `noise` times the standard deviation of scores in lists."""
    n_features = max(1, int(np.count_nonzero(space.unit)))
    size = noise * problem.deviation_of(problem.scores(weights)) / math.sqrt(n_features)
    drawn: np.ndarray = weights + size * space.unit * rng.standard_normal(weights.size)
    return drawn


def ascend(problem: Problem, settings: Mert, space: Space, start: np.ndarray, rng: np.random.Generator) -> Ascent:
    """Repeat rounds of line searches along coordinates and random directions, until a round improves little."""
    lists, weights = problem.lists, start.copy()
    scores, slopes, changes = np.empty(problem.n_hypotheses), np.empty(problem.n_hypotheses), new_changes(lists)
    score, n_updates = problem.score_of(weights), 0
    while True:
        fill_scores(lists, weights, 0, scores.size, scores)
        before = score
        for feature in _lines(settings, space, rng):
            direction = np.zeros(weights.size)
            if feature < 0:
                direction = space.unit * rng.standard_normal(weights.size)
            else:
                direction[feature] = 1.0
            _fill_slopes(problem, space, feature, direction, slopes)
            step = line_search(lists, problem.metric, scores, slopes, changes)
            if step.score > score:
                weights += step.x * direction
                scores += step.x * slopes
                score, n_updates = step.score, n_updates + 1
        if score <= before + settings.min_gain:
            return Ascent(weights, score, n_updates)


def _lines(settings: Mert, space: Space, rng: np.random.Generator) -> list[int]:
    features = rng.permutation(np.flatnonzero(space.unit))[: settings.coordinates]
    lines: list[int] = rng.permutation(np.append(features, np.full(settings.directions, -1))).tolist()
    return lines


def _fill_slopes(problem: Problem, space: Space, feature: int, direction: np.ndarray, slopes: np.ndarray) -> None:
    if 0 <= feature < len(space.columns):
        slopes[:] = space.columns[feature]
    else:
        fill_scores(problem.lists, direction, 0, slopes.size, slopes)
