"""The weights of a training that were best on the development set so far: dense ones, and those of sparse features."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, add_weights, new_sparse_weights


class BestWeights(NamedTuple):
    """Dense weights and the sparse weights that are not 0."""

    dense: np.ndarray  # float64[F], scales of groups among them
    keys: np.ndarray  # uint64[K], of sparse features
    values: np.ndarray  # float64[K]
    group: np.ndarray  # uint8[K], index of GROUPS

    def table(self) -> SparseWeights:
        """The sparse weights as the hash table of a decoder."""
        sparse = new_sparse_weights(self.keys.size)
        add_weights(sparse, self.keys, self.values)
        return sparse


def nonzero_weights(dense: np.ndarray, sparse: SparseWeights, group: np.ndarray) -> BestWeights:
    """Dense weights (float64[F]) and those of a table that are not 0; `group` (uint8[T]): by slot of the table."""
    slots = np.flatnonzero(sparse.values)
    return BestWeights(dense, sparse.keys[slots], sparse.values[slots], group[slots])
