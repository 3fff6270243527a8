"""The weights of a training that were best on the development set so far: dense ones, and those of sparse features."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, add_weights, new_sparse_weights


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
    """Those of a table of T slots that are not 0; `group`: of the features in its slots (uint8[T])."""
    slots = np.flatnonzero(sparse.values)
    return BestWeights(dense, sparse.keys[slots], sparse.values[slots], group[slots])
