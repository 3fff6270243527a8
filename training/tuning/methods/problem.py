"""The input of every tuning method: n-best lists, a metric, and the initial weights."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from phrasebeam.base.memory_bound import DEFAULT_MEMORY
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_store import Lists
from phrasebeam.training.tuning.methods.linear import add_rows, add_variances, fill_best, fill_scores

MOST_EPOCHS = 100_000  # maximum number of epochs of a method


class Optimum(NamedTuple):
    """The result of a tuning method."""

    weights: np.ndarray  # float64[F]
    n_updates: int  # number of changes of the weights
    epoch: int = 0  # the epoch with these weights; 0 for methods without epochs


@dataclass(frozen=True)
class Problem:
    """N-best lists with at least one hypothesis for each sentence, a metric, and initial weights."""

    lists: Lists
    metric: Metric
    start: np.ndarray  # float64[F], initial weights
    tunable: np.ndarray  # bool[F], whether the weight may change
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    threads: int = 1
    memory: int = DEFAULT_MEMORY  # bound on the memory of the process, in bytes

    @property
    def n_sentences(self) -> int:
        return int(self.lists.first.size) - 1

    @property
    def n_hypotheses(self) -> int:
        return int(self.lists.row.size)

    @property
    def longest(self) -> int:
        """Number of hypotheses of the longest list."""
        return int(np.diff(self.lists.first).max())

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The model score of each hypothesis (float64[H])."""
        scores = np.empty(self.n_hypotheses)
        bounds = np.linspace(0, scores.size, self.threads + 1).astype(np.int64)

        def fill(i: int) -> None:
            fill_scores(self.lists, weights, int(bounds[i]), int(bounds[i + 1]), scores)

        in_threads(self.threads, fill, self.threads)
        return scores

    def best(self, scores: np.ndarray, gains: np.ndarray | None = None, factor: float = 0.0) -> np.ndarray:
        """The hypothesis with the largest score + factor * gain of each sentence (int64[M])."""
        rows = np.empty(self.n_sentences, np.int64)
        gains = scores if gains is None else gains
        fill_best(self.lists, scores, gains, float(factor), 0, self.n_sentences, rows)
        return rows

    def corpus_score(self, rows: np.ndarray) -> float:
        """The metric score of the corpus of the hypotheses `rows` (int64[M])."""
        return self.metric.corpus_score(self.lists.statistics[rows])

    def score_of(self, weights: np.ndarray) -> float:
        """The metric score of the hypotheses that `weights` (float64[F]) choose."""
        return self.corpus_score(self.best(self.scores(weights)))

    def feature_sum(self, rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Sum of the features of `rows` (int64[K]) times `factors` (float64[K]), as float64[F]; 0 if not tunable."""
        total = np.zeros(self.start.size)
        add_rows(self.lists, rows, factors, total)
        total[~self.tunable] = 0.0
        return total

    def deviations(self) -> np.ndarray:
        """The standard deviation of each feature within lists (float64[F])."""
        variances, size = np.zeros(self.start.size), self.start.size
        add_variances(self.lists, np.zeros(size), np.zeros(size), variances)
        deviations: np.ndarray = np.sqrt(variances / self.n_sentences)
        return deviations

    def deviation_of(self, scores: np.ndarray) -> float:
        """The standard deviation of model scores (float64[H]) within lists."""
        # Scores are scaled by a power of two, which is exact, since squares of large scores would not be finite.
        exponent = int(np.frexp(np.abs(scores).max(initial=0.0))[1])
        first, ordered = self.lists.first[:-1], np.ldexp(scores[self.lists.row], -exponent)
        sizes = np.diff(self.lists.first)
        means = np.add.reduceat(ordered, first) / sizes
        squares = np.add.reduceat((ordered - np.repeat(means, sizes)) ** 2, first)
        return float(np.ldexp(np.sqrt((squares / sizes).mean()), exponent))


def in_threads(threads: int, work: Callable[[int], None], n: int) -> None:
    """Call work(i) for every i < n on `threads` threads."""
    if threads == 1:
        for i in range(n):
            work(i)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(n)))
