"""The weights of a training that were best on the development set so far: dense ones, and those of sparse features."""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import array
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, add_weights, fill_slots, new_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS


class BestWeights(NamedTuple):
    """Dense weights and the sparse weights that are not 0."""

    dense: Annotated[np.ndarray, array(np.float64, "F")]  # including the scales of groups of sparse features
    keys: Annotated[np.ndarray, array(np.uint64, "K")]  # of sparse features
    values: Annotated[np.ndarray, array(np.float64, "K")]
    group: Annotated[np.ndarray, array(np.uint8, "K", below=len(GROUPS))]  # index of GROUPS

    def table(self) -> SparseWeights:
        """The sparse weights as the hash table of a decoder."""
        sparse = new_sparse_weights(self.keys.size)
        add_weights(sparse, self.keys, self.values)
        return sparse

    def largest(self, n: int | None) -> "BestWeights":
        """Only the `n` sparse weights with the largest absolute values (None: all).

        Of equal values, those with the smallest keys.
        """
        if n is None or self.keys.size <= n:
            return self
        sizes = np.abs(self.values)
        least = np.partition(sizes, -n)[-n]
        larger, equal = np.flatnonzero(sizes > least), np.flatnonzero(sizes == least)
        equal = equal[np.argsort(self.keys[equal], kind="stable")[: n - larger.size]]
        kept = np.sort(np.concatenate([larger, equal]))
        return BestWeights(self.dense, self.keys[kept], self.values[kept], self.group[kept])

    def in_table(self) -> "TableWeights":
        """The same weights with their sparse features in a hash table."""
        sparse = self.table()
        group, slots = np.zeros(sparse.keys.size, np.uint8), np.empty(self.keys.size, np.int64)
        fill_slots(sparse, self.keys, slots)
        group[slots] = self.group
        return TableWeights(self.dense, sparse, group)


class TableWeights(NamedTuple):
    """Dense weights, and sparse ones in a hash table of T slots."""

    dense: np.ndarray  # float64[F]
    sparse: SparseWeights
    group: np.ndarray  # uint8[T], index of GROUPS, by slot

    def nonzero(self) -> BestWeights:
        """The dense weights, and the sparse weights that are not 0."""
        slots = np.flatnonzero(self.sparse.values)
        return BestWeights(self.dense, self.sparse.keys[slots], self.sparse.values[slots], self.group[slots])
