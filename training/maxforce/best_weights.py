"""The weights of a training that were best on the development set, and the mean of those of several."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, add_weights, new_sparse_weights
from phrasebeam.training.maxforce.learned_weights import LearnedWeights


class BestWeights(NamedTuple):
    """Dense weights, those of sparse features that are not 0, and the groups of these, see GROUPS."""

    dense: np.ndarray  # float64[F], scales of groups among them
    keys: np.ndarray  # uint64[K]
    values: np.ndarray  # float64[K]
    group: np.ndarray  # uint8[K]

    def table(self) -> SparseWeights:
        """The sparse weights, as a decoder takes them."""
        sparse = new_sparse_weights(self.keys.size)
        add_weights(sparse, self.keys, self.values)
        return sparse


def nonzero_weights(dense: np.ndarray, sparse: SparseWeights, group: np.ndarray) -> BestWeights:
    """Out of a table of T slots, and the groups of its features (uint8[T])."""
    slots = np.flatnonzero(sparse.values)
    return BestWeights(dense, sparse.keys[slots], sparse.values[slots], group[slots])


def mean(several: Iterable[BestWeights], n: int) -> BestWeights:
    """Of `n` trainings; a feature that a training has not has the weight 0 there."""
    total: LearnedWeights | None = None
    for one in several:
        if total is None:
            total = LearnedWeights(np.zeros(one.dense.size), new_sparse_weights(one.keys.size))
        total.add(one.dense / n, one.keys, one.values / n, one.group.astype(np.int64))
    if total is None:
        raise ValueError("no weights to average")
    return nonzero_weights(total.dense, total.sparse, total.columns.group)


def save_best(path: Path, best: BestWeights) -> None:
    """Write weights, whole or not at all."""
    with atomic_file(path) as file:
        np.savez(file, allow_pickle=False, **best._asdict())


def load_best(path: Path) -> BestWeights:
    """Read them back."""
    with np.load(path) as arrays:
        return best_of(arrays)


def best_of(arrays: Mapping[str, np.ndarray]) -> BestWeights:
    """By their names."""
    return BestWeights(*(arrays[name] for name in BestWeights._fields))
