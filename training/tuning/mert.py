"""Minimum error rate training (Och 2003): exact line searches on the metric of the corpus, from several starts."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from training.tuning.config import Mert
from training.tuning.envelope import Changes, Step, line_search, new_changes
from training.tuning.linear import fill_column, fill_scores
from training.tuning.problem import Optimum, Problem

NEAR, ANYWHERE = 0.5, 4  # every fourth start is anywhere: those near the weights before lead higher, mostly


class Ascent(NamedTuple):
    """Where one start has led."""

    weights: np.ndarray  # float64[F]
    score: float
    n_updates: int


def mert(problem: Problem, settings: Mert) -> Optimum:
    """The best of all ascents, the first of several; scaled to the sum of absolute weights of the start.

    A corpus does not depend on that scale, but the pruning of the search does.
    """
    generators = problem.rng.spawn(settings.restarts + 1)
    starts = [problem.start]
    starts += [_random_start(problem, i % ANYWHERE > 0, generator) for i, generator in enumerate(generators[1:], 1)]
    with ThreadPoolExecutor(problem.threads) as pool:
        ascents = list(pool.map(lambda pair: ascend(problem, settings, *pair), zip(starts, generators)))
    best = max(ascents, key=lambda ascent: ascent.score)
    n_updates = sum(ascent.n_updates for ascent in ascents)
    return Optimum(rescaled(best.weights, problem.start, problem.tunable), n_updates)


def rescaled(weights: np.ndarray, like: np.ndarray, tunable: np.ndarray) -> np.ndarray:
    """`weights` with the sum of absolute values of `like`; those that are not tunable stay."""
    found, expected = np.abs(weights[tunable]).sum(), np.abs(like[tunable]).sum()
    if found == 0 or expected == 0:
        return weights
    return np.where(tunable, weights * (expected / found), weights)


def ascend(problem: Problem, settings: Mert, start: np.ndarray, rng: np.random.Generator) -> Ascent:
    """Line searches along all coordinates and some random directions, until a round of them brings nothing."""
    lists, weights = problem.lists, start.copy()
    changes, n_updates, slopes = new_changes(lists), 0, np.empty(problem.n_hypotheses)
    score = -np.inf
    while True:
        scores = np.empty(problem.n_hypotheses)
        fill_scores(lists, weights, 0, scores.size, scores)
        if score == -np.inf:
            score = problem.corpus_score(problem.best(scores))
        before = n_updates
        for direction in _directions(problem, settings.directions, rng):
            _fill_slopes(problem, direction, slopes)
            step = _step(problem, scores, slopes, changes, score + settings.min_gain)
            if step is not None:
                weights += step.x * direction
                scores += step.x * slopes
                score, n_updates = step.score, n_updates + 1
        if n_updates == before:
            return Ascent(weights, score, n_updates)


def _step(problem: Problem, scores: np.ndarray, slopes: np.ndarray, changes: Changes, beyond: float) -> Step | None:
    """The best step along a line, or None where none scores more than `beyond`."""
    step = line_search(problem.lists, problem.metric, scores, slopes, changes)
    return step if step.score > beyond else None


def _directions(problem: Problem, n_random: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Unit vectors of all tunable features, and random directions among these, in random order."""
    places = np.flatnonzero(problem.tunable)
    found = []
    for place in places:
        unit = np.zeros(problem.start.size)
        unit[place] = 1.0
        found.append(unit)
    for _ in range(n_random):
        found.append(np.where(problem.tunable, rng.standard_normal(problem.start.size), 0.0))
    return [found[i] for i in rng.permutation(len(found))]


def _fill_slopes(problem: Problem, direction: np.ndarray, slopes: np.ndarray) -> None:
    places = np.flatnonzero(direction)
    if places.size == 1 and places[0] < problem.lists.dense.shape[1]:
        fill_column(problem.lists, int(places[0]), slopes)
    else:
        fill_scores(problem.lists, direction, 0, slopes.size, slopes)


def _random_start(problem: Problem, is_near: bool, rng: np.random.Generator) -> np.ndarray:
    """Weights as large as those of the start: near them, each moved by about half the mean weight, or anywhere."""
    size, tunable = problem.start.size, problem.tunable
    if is_near:
        drawn = problem.start + NEAR * np.abs(problem.start[tunable]).mean() * rng.standard_normal(size)
    else:
        drawn = rng.uniform(-1, 1, size)
    return rescaled(np.where(tunable, drawn, problem.start), problem.start, tunable)
