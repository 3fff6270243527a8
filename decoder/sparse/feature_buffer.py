"""The sparse features of one phrase pair or more, listed one by one, and what they amount to."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.sparse_weights import find_weight
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.sparse.word_edges import POSITIONS
from phrasebeam.decoder.tables.phrase_table import longest
from phrasebeam.kernels.jit import inner_kernel


class SparseFeatureBuffer(NamedTuple):
    """Room for the sparse features of one phrase pair or more."""

    keys: np.ndarray  # uint64[K]
    values: np.ndarray  # float32[K]
    groups: np.ndarray  # int64[K], see GROUPS
    edges: np.ndarray  # uint64[6, 1 + L], work space: see fill_edges
    n: np.ndarray  # int64[1], how many there are


def new_sparse_features(room: int, n_levels: int) -> SparseFeatureBuffer:
    """Room for so many features, of models with so many levels."""
    edges = np.zeros((len(POSITIONS), 1 + n_levels), np.uint64)
    return SparseFeatureBuffer(
        np.zeros(room, np.uint64), np.zeros(room, np.float32), np.zeros(room, np.int64), edges, np.zeros(1, np.int64)
    )


def most_sparse_features(sparse: Sparse) -> int:
    """How many features one phrase pair can have: one for each group and level, beside word edges and its own."""
    return longest(sparse.pair_offsets) + len(sparse.combinations) + most_history_features(sparse.nothing.size - 1)


def most_history_features(n_levels: int) -> int:
    """How many of these can depend on what comes before, of models with so many levels."""
    return len(GROUPS) * (1 + n_levels)


@inner_kernel
def weigh_fired(weights, scales, fired):
    """Weighted sum of all features in `fired`; scales: float64[len(GROUPS)]."""
    total = 0.0
    for i in range(fired.n[0]):
        total += scales[fired.groups[i]] * find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
    return total


@inner_kernel
def add_group_values(weights, fired, places, features):
    """Add the groups' values, sums of weights times values, to features[places[group]] (int64[len(GROUPS)])."""
    for i in range(fired.n[0]):
        place = places[fired.groups[i]]
        if place >= 0:
            features[place] += find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
