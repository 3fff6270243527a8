"""The weights of several shards as one vector: their mean, and joint selection of features (Simianer et al. 2012).

Selection by the l2 norm of the columns of the matrix of shards and features is weight-based recursive feature
elimination, an approximation of l1/l2 regularization (section 4).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, claim_slot, new_sparse_weights
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.online.learned_weights import LearnedWeights, SlotColumns


class Selection(NamedTuple):
    """How many features are selected, and which are always kept."""

    keep: int  # number of features that are selected, K in the paper
    always: np.ndarray  # bool[F], dense features that are kept in addition; the others compete with sparse features


def mean(vectors: Iterable[BestWeights], n: int, selection: Selection | None = None) -> BestWeights:
    """The mean of the weights of `n` shards or trainings; a missing weight counts as 0.

    With a `selection`, only for the features with the largest l2 norms over all vectors. Among equal norms, dense
    features come before sparse ones, and smaller keys before larger ones.
    """
    total: LearnedWeights | None = None
    for one in vectors:
        if total is None:
            total = LearnedWeights(np.zeros(one.dense.size), new_sparse_weights(one.keys.size))
        total.dense += one.dense / n
        total.weighted_dense += one.dense**2
        total.make_room(one.keys.size)
        add_vector(total.sparse, total.columns, one.keys, one.values, one.group, float(n))
    if total is None:
        raise ValueError("no weights to average")
    slots = np.flatnonzero(total.sparse.keys)
    slots = slots[np.argsort(total.sparse.keys[slots], kind="stable")]
    mixed = BestWeights(total.dense, total.sparse.keys[slots], total.sparse.values[slots], total.columns.group[slots])
    return _selected(mixed, total.weighted_dense, total.columns.weighted_sum[slots], selection) if selection else mixed


@kernel
def add_vector(weights: SparseWeights, columns: SlotColumns, keys, values, groups, n):
    """Add `values` (float64[K]) / `n` (float64) to the weights of `keys` (uint64[K]), and values ** 2 to weighted_sum.

    `groups` (uint8[K]): the groups of the features. The table must have room for new keys.
    """
    for i in range(keys.size):
        slot = claim_slot(weights, keys[i])
        weights.values[slot] += values[i] / n
        columns.weighted_sum[slot] += values[i] * values[i]
        columns.group[slot] = groups[i]


def restricted(weights: BestWeights, mixed: BestWeights) -> BestWeights:
    """The weights of the features that `mixed` has; dense features count if their weight in `mixed` is not 0."""
    kept = np.isin(weights.keys, mixed.keys)
    dense = np.where(mixed.dense != 0, weights.dense, 0.0)
    return BestWeights(dense, weights.keys[kept], weights.values[kept], weights.group[kept])


def _selected(mixed: BestWeights, dense_squares: np.ndarray, squares: np.ndarray, selection: Selection) -> BestWeights:
    n_dense, always = mixed.dense.size, selection.always
    norms = np.concatenate([np.where(always, np.inf, dense_squares), squares])
    kept = np.zeros(norms.size, bool)
    kept[np.argsort(-norms, kind="stable")[: selection.keep + np.count_nonzero(always)]] = True
    sparse, dense = kept[n_dense:], np.where(kept[:n_dense], mixed.dense, 0.0)
    return BestWeights(dense, mixed.keys[sparse], mixed.values[sparse], mixed.group[sparse])
