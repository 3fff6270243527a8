"""Weights of sparse features: a hash table from 64-bit keys to numbers, which threads share (open addressing).

A key is a hash of the feature's name or words, so that a feature has the same key in every process.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.array_checks import open_checked
from phrasebeam.decoder.tables.model_files import SPARSE_WEIGHTS
from phrasebeam.kernels.hashing import first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel

NO_KEY = np.uint64(0)  # marks an empty slot


class SparseWeights(NamedTuple):
    """A hash table of T slots, a power of two, of which at most 3/4 are in use."""

    keys: np.ndarray  # uint64[T], NO_KEY where empty
    values: np.ndarray  # float64[T], 0 where empty
    n_used: np.ndarray  # int64[1], slots in use


def new_sparse_weights(n_features: int = 0) -> SparseWeights:
    """A table without weights, with room for `n_features`."""
    n_slots = 4
    while 3 * n_slots < 4 * n_features:
        n_slots *= 2
    return SparseWeights(np.zeros(n_slots, np.uint64), np.zeros(n_slots), np.zeros(1, np.int64))


def sparse_weights_of(keys: np.ndarray, values: np.ndarray) -> SparseWeights:
    """A table of the weights `values` (float64[K]) of `keys` (uint64[K]); those of equal keys are added."""
    weights = new_sparse_weights(keys.size)
    if keys.size:
        add_weights(weights, keys, values)
    return weights


@inlined_kernel
def slot_of(weights: SparseWeights, key):
    """The slot (int64) of `key` (uint64), or the empty slot where it belongs."""
    slot = first_slot(mix(key), weights.keys.size)
    while weights.keys[slot] != key and weights.keys[slot] != NO_KEY:
        slot = next_slot(slot, weights.keys.size)
    return slot


@inlined_kernel
def find_weight(weights: SparseWeights, key):
    """The weight (float64) of the feature `key` (uint64), 0 if it has none."""
    return weights.values[slot_of(weights, key)]


@kernel
def has_room(weights: SparseWeights, n_more):
    """Whether `n_more` (int64) new features fit into the table."""
    return 4 * (weights.n_used[0] + n_more) <= 3 * weights.keys.size


@inlined_kernel
def claim_slot(weights: SparseWeights, key):
    """The slot of the feature `key` (uint64), which gets a free one if it has none; there must be room."""
    slot = slot_of(weights, key)
    if weights.keys[slot] == NO_KEY:
        weights.keys[slot] = key
        weights.n_used[0] += 1
    return slot


@kernel
def add_weights(weights: SparseWeights, keys, amounts):
    """Add `amounts` (float64[K]) to the weights of `keys` (uint64[K]), for which there must be room."""
    for i in range(keys.size):
        slot = claim_slot(weights, keys[i])
        weights.values[slot] += amounts[i]


@kernel
def fill_weights(weights: SparseWeights, keys, values):
    """Write the weights of `keys` (uint64[K]) to `values` (float64[K])."""
    for i in range(keys.size):
        values[i] = find_weight(weights, keys[i])


@kernel
def fill_slots(weights: SparseWeights, keys, slots):
    """Write the slots of `keys` (uint64[K]), for which there must be room, to `slots` (int64[K])."""
    for i in range(keys.size):
        slots[i] = claim_slot(weights, keys[i])


def with_values(weights: SparseWeights, keys: np.ndarray, values: np.ndarray) -> SparseWeights:
    """A copy of `weights` in which `keys` (uint64[K], each once) have the weights `values` (float64[K])."""
    old_keys, old_values = used(weights)
    kept = ~np.isin(old_keys, keys)
    changed = new_sparse_weights(int(kept.sum()) + keys.size)
    add_weights(changed, old_keys[kept], old_values[kept])
    add_weights(changed, keys, values)
    return changed


def used(weights: SparseWeights) -> tuple[np.ndarray, np.ndarray]:
    """(keys, values) of all features in the table, in the order of their keys."""
    slots = np.flatnonzero(weights.keys)
    slots = slots[np.argsort(weights.keys[slots], kind="stable")]
    return weights.keys[slots], weights.values[slots]


def save_sparse_weights(weights: SparseWeights, directory: str | Path) -> list[Path]:
    """Write the weights that are not 0 to keys.npy and values.npy, in the order of their keys; returns the paths."""
    keys, values = used(weights)
    Path(directory).mkdir(parents=True, exist_ok=True)
    paths = [Path(directory) / f"{file.name}.npy" for file in SPARSE_WEIGHTS]
    for path, array in zip(paths, (keys[values != 0], values[values != 0])):
        with atomic_file(path) as file:  # models may share the one that is there
            np.save(file, array)
    return paths


def open_sparse_weights(directory: str | Path) -> SparseWeights:
    """Read the weights in keys.npy and values.npy. Raises ModelError or FormatError if one is missing or damaged."""
    keys, values = open_checked(Path(directory), SPARSE_WEIGHTS).values()
    weights = new_sparse_weights(keys.size)
    add_weights(weights, np.ascontiguousarray(keys), np.ascontiguousarray(values))
    return weights
