"""The weights of several shards as one vector: their mean, and joint selection of features (Simianer et al. 2012).

Selection by the l2 norm of the columns of the matrix of shards and features is weight-based recursive feature
elimination, an approximation of l1/l2 regularization (section 4).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.online.learned_weights import LearnedWeights


class Selection(NamedTuple):
    """Which features are kept."""

    keep: int  # K
    always: np.ndarray  # bool[F], dense features that are kept besides these; the others are features like sparse ones


def mean(vectors: Iterable[BestWeights], n: int, selection: Selection | None = None) -> BestWeights:
    """The mean of the weights of `n` shards or trainings; a feature without a weight in one counts as 0 there.

    With a `selection`, of the features with the largest l2 norms over all vectors; of equal ones, dense features come
    before sparse ones, and smaller keys before larger ones.
    """
    mixed, squares = _Sum(), _Sum()
    for one in vectors:
        mixed.add(one._replace(dense=one.dense / n, values=one.values / n))
        if selection:
            squares.add(one._replace(dense=one.dense**2, values=one.values**2))
    return _selected(mixed.total(), squares.total(), selection) if selection else mixed.total()


def restricted(weights: BestWeights, mixed: BestWeights) -> BestWeights:
    """The weights of the features that `mixed` has: of dense ones those that are not 0 there."""
    kept = np.isin(weights.keys, mixed.keys)
    dense = np.where(mixed.dense != 0, weights.dense, 0.0)
    return BestWeights(dense, weights.keys[kept], weights.values[kept], weights.group[kept])


class _Sum:
    """A sum of weights."""

    def __init__(self) -> None:
        self.learned: LearnedWeights | None = None

    def add(self, one: BestWeights) -> None:
        """Add the weights of a vector."""
        if self.learned is None:
            self.learned = LearnedWeights(np.zeros(one.dense.size), new_sparse_weights(one.keys.size))
        self.learned.add(one.dense, one.keys, one.values, one.group.astype(np.int64))

    def total(self) -> BestWeights:
        """All features that any vector has, in the order of their keys."""
        if self.learned is None:
            raise ValueError("no weights to average")
        dense, sparse, columns = self.learned.dense, self.learned.sparse, self.learned.columns
        slots = np.flatnonzero(sparse.keys)
        slots = slots[np.argsort(sparse.keys[slots], kind="stable")]
        return BestWeights(dense, sparse.keys[slots], sparse.values[slots], columns.group[slots])


def _selected(mixed: BestWeights, squares: BestWeights, selection: Selection) -> BestWeights:
    n_dense, always = mixed.dense.size, selection.always
    norms = np.concatenate([np.where(always, np.inf, squares.dense), squares.values])
    kept = np.zeros(norms.size, bool)
    kept[np.argsort(-norms, kind="stable")[: selection.keep + np.count_nonzero(always)]] = True
    sparse, dense = kept[n_dense:], np.where(kept[:n_dense], mixed.dense, 0.0)
    return BestWeights(dense, mixed.keys[sparse], mixed.values[sparse], mixed.group[sparse])
