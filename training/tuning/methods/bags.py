"""Bagging (Breiman 1996): weights are optimized on bootstrap samples of the sentences, and their mean is taken.

What a method finds by fitting the chance of one development set differs from sample to sample; the mean keeps what they
have in common.
"""

from collections.abc import Callable, Sequence

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.problem import Optimum, Problem


def of_sentences(problem: Problem, sentences: np.ndarray) -> Problem:
    """The problem of these sentences (int64[K], any may come again) alone, in their order. Its lists are in memory."""
    lists = problem.lists
    sizes = np.diff(lists.first)[sentences]
    first = np.append(0, np.cumsum(sizes)).astype(np.int64)
    within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    rows = lists.row[np.repeat(lists.first[:-1][sentences], sizes) + within]
    sparse_sizes = np.diff(lists.sparse_first)[rows]
    sparse_first = np.append(0, np.cumsum(sparse_sizes)).astype(np.int64)
    within = np.arange(sparse_first[-1]) - np.repeat(sparse_first[:-1], sparse_sizes)
    sparse = np.repeat(lists.sparse_first[:-1][rows], sparse_sizes) + within
    taken = Lists(
        first,
        np.arange(rows.size),
        np.ascontiguousarray(lists.dense[rows]),
        sparse_first,
        np.ascontiguousarray(lists.sparse_column[sparse]),
        np.ascontiguousarray(lists.sparse_value[sparse]),
        np.ascontiguousarray(lists.statistics[rows]),
    )
    return Problem(taken, problem.metric, problem.start, problem.tunable, problem.rng, problem.threads, problem.memory)


def mean_of(weights: Sequence[np.ndarray], tunable: np.ndarray) -> np.ndarray:
    """float64[F], the mean of weights (float64[F]) after those `tunable` (bool[F]) have the same sum of magnitudes.

    For the scores of methods such as MERT do not depend on the scale of weights, which is that of chance.
    """
    norms = np.array([np.abs(one[tunable]).sum() for one in weights])
    scales = np.where(norms > 0, norms.mean() / np.where(norms > 0, norms, 1.0), 1.0)
    scaled = [np.where(tunable, scale * one, one) for scale, one in zip(scales, weights)]
    mean: np.ndarray = np.mean(scaled, axis=0)
    return mean


def bagged(problem: Problem, optimize: Callable[[Problem], Optimum], n_bags: int) -> Optimum:
    """The mean of what `optimize` finds on `n_bags` bootstrap samples of the sentences; with 0, on all of them once."""
    if not n_bags:
        return optimize(problem)
    found = []
    with stage("optimizing on bootstrap samples", n_bags, "samples") as advance:
        for _ in range(n_bags):
            sentences = np.sort(problem.rng.integers(0, problem.n_sentences, problem.n_sentences))
            found.append(optimize(of_sentences(problem, sentences)))
            advance(1)
    weights = mean_of([optimum.weights for optimum in found], problem.tunable)
    return Optimum(weights, sum(optimum.n_updates for optimum in found))
