"""A list of the sparse features of one or more phrase pairs, and its weighted sum."""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.sparse.phrase_templates import MOST_OF_A_GROUP
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, find_weight
from phrasebeam.decoder.sparse.templates import FIRST_PHRASE, GROUPS, LAST_PHRASE
from phrasebeam.decoder.sparse.word_edges import POSITIONS
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE, longest
from phrasebeam.kernels.hashing import first_slot, mix
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.kernels.prefetch import prefetch

AHEAD = np.int64(16)  # features whose weights are fetched from memory before they are added


class SparseFeatureBuffer(NamedTuple):
    """A list of at most K sparse features, of one or more phrase pairs, and scratch space for kernels."""

    keys: np.ndarray  # uint64[K]
    values: np.ndarray  # float32[K]
    groups: np.ndarray  # int64[K], indices of GROUPS
    edges: np.ndarray  # uint64[6, 1 + L], scratch space of fill_edges
    cliques: np.ndarray  # int64[2, LONGEST_PHRASE], scratch space of fill_cliques
    n: np.ndarray  # int64[1], number of features in the list


def new_sparse_features(capacity: int, n_levels: int) -> SparseFeatureBuffer:
    """An empty list for `capacity` features, of models with `n_levels` levels."""
    edges = np.zeros((len(POSITIONS), 1 + n_levels), np.uint64)
    keys, values, groups = (np.zeros(capacity, dtype) for dtype in (np.uint64, np.float32, np.int64))
    cliques = np.zeros((2, LONGEST_PHRASE), np.int64)
    return SparseFeatureBuffer(keys, values, groups, edges, cliques, np.zeros(1, np.int64))


def most_sparse_features(sparse: Sparse) -> int:
    """The most features that one phrase pair can have: its own, of word edges, of the phrase alone, with history.

    Raises ModelError where the offsets of the pairs' own features are damaged: nothing of that size can be allocated.
    """
    of_pair, n_keys = longest(sparse.pair_offsets), sparse.pair_keys.size
    if of_pair > n_keys:
        found = f"sparse/pairs/offsets.npy: {of_pair} features of a phrase pair, of {n_keys} in all"
        raise ModelError(f"{found}; {TRAIN_AGAIN}, see check-model")
    of_phrase = MOST_OF_A_GROUP * int(sparse.active[FIRST_PHRASE : LAST_PHRASE + 1].sum())
    with_history = most_history_features(sparse.begin_classes.size - 1)
    return of_pair + len(sparse.combinations) + of_phrase + with_history


def most_history_features(n_levels: int) -> int:
    """The most features with history that one phrase pair can have, in models with `n_levels` levels."""
    return len(GROUPS) * (1 + n_levels)


@inlined_kernel
def _fetch_weight(weights: SparseWeights, key):
    """Have the processor read the slot where the search for `key` (uint64) begins."""
    slot = first_slot(mix(key), weights.keys.size)
    prefetch(weights.keys, slot)
    prefetch(weights.values, slot)


@inner_kernel
def weigh_fired(weights: SparseWeights, scales, fired: SparseFeatureBuffer):
    """Weighted sum of all features in `fired`, times the `scales` of their groups (float64[len(GROUPS)])."""
    total, n = 0.0, fired.n[0]
    for i in range(min(AHEAD, n)):
        _fetch_weight(weights, fired.keys[i])
    for i in range(n):
        if i + AHEAD < n:
            _fetch_weight(weights, fired.keys[i + AHEAD])
        total += scales[fired.groups[i]] * find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
    return total


@inner_kernel
def add_group_values(weights: SparseWeights, fired: SparseFeatureBuffer, places, features):
    """Add weights times values of the features in `fired` to the feature vector `features` (float64[F]).

    `places` (int64[len(GROUPS)]) are the indices of the groups in it, negative for those that it lacks.
    """
    for i in range(fired.n[0]):
        index = places[fired.groups[i]]
        if index >= 0:
            features[index] += find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
