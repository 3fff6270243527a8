"""Sparse vectors: weights in a hash table that threads share (open addressing), features as rows of a matrix (CSR).

A key is a hash of the feature's name or words, so that a feature has the same key in every process.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.array_checks import open_checked
from phrasebeam.decoder.tables.model_files import SPARSE_WEIGHTS
from phrasebeam.kernels.hashing import first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.kernels.prefetch import prefetch

NO_KEY = np.uint64(0)  # marks an empty slot
NO_SLOT = np.int64(-1)  # replaces the slot of a key that has no weight


class SparseWeights(NamedTuple):
    """A hash table of T slots, a power of two; at most 3/4 of them are in use."""

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
    """A table with the weights `values` (float64[K]) of `keys` (uint64[K]); weights of equal keys are added."""
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


@inlined_kernel
def find_slots(weights: SparseWeights, keys, n, slots):
    """Write the slots of the first `n` (int64) of `keys` (uint64[K]) to `slots` (int64[K]), or NO_SLOT.

    They are fetched from memory in parallel, and so are the values of keys that have weights.
    """
    for k in range(n):
        slots[k] = first_slot(mix(keys[k]), weights.keys.size)
        prefetch(weights.keys, slots[k])
    for k in range(n):
        slot = slots[k]
        while weights.keys[slot] != keys[k] and weights.keys[slot] != NO_KEY:
            slot = next_slot(slot, weights.keys.size)
        slots[k] = slot if weights.keys[slot] == keys[k] else NO_SLOT
        prefetch(weights.values, slots[k])


@inlined_kernel
def weight_in(weights: SparseWeights, slot):
    """The weight (float64) in a `slot` (int64) found by find_slots."""
    return 0.0 if slot == NO_SLOT else weights.values[slot]


@kernel
def has_room(weights: SparseWeights, n_more):
    """Whether `n_more` (int64) new features fit into the table."""
    return 4 * (weights.n_used[0] + n_more) <= 3 * weights.keys.size


@inlined_kernel
def claim_slot(weights: SparseWeights, key):
    """The slot of the feature `key` (uint64); a new feature gets a free slot, for which there must be room."""
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
        with atomic_file(path) as file:  # models may share the existing file
            np.save(file, array)
    return paths


def open_sparse_weights(directory: str | Path) -> SparseWeights:
    """Read the weights in keys.npy and values.npy. Raises ModelError or FormatError if one is missing or damaged."""
    keys, values = open_checked(Path(directory), SPARSE_WEIGHTS).values()
    weights = new_sparse_weights(keys.size)
    add_weights(weights, np.ascontiguousarray(keys), np.ascontiguousarray(values))
    return weights


class SparseRows(NamedTuple):
    """K sparse vectors; the keys of each vector ascend and are distinct."""

    first: np.ndarray  # int64[K + 1], vector i is first[i]:first[i + 1]
    keys: np.ndarray  # uint64[Z]
    values: np.ndarray  # float32[Z]

    def vectors(self) -> list[dict[int, float]]:
        """The vectors as dicts from key to value."""
        keys, values, ends = self.keys.tolist(), self.values.tolist(), self.first.tolist()
        return [dict(zip(keys[a:b], values[a:b])) for a, b in pairwise(ends)]

    def take(self, rows: np.ndarray) -> "SparseRows":
        """The vectors `rows` (int64[R])."""
        sizes = np.diff(self.first)[rows]
        first = _ends(sizes)
        columns = np.arange(first[-1]) - np.repeat(first[:-1] - self.first[rows], sizes)
        return SparseRows(first, self.keys[columns], self.values[columns])


def no_features(n: int) -> SparseRows:
    """`n` empty vectors."""
    return SparseRows(np.zeros(n + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.float32))


def rows_of(vectors: Sequence[Mapping[int, float]]) -> SparseRows:
    """SparseRows of vectors given as dicts from key to value."""
    keys = np.array([key for vector in vectors for key in vector], np.uint64)
    values = np.array([value for vector in vectors for value in vector.values()], np.float32)
    return summed(_ends([len(vector) for vector in vectors]), keys, values)


def summed(first: np.ndarray, keys: np.ndarray, values: np.ndarray) -> SparseRows:
    """SparseRows of vectors first[i]:first[i + 1] (int64[K + 1]) of `keys` (uint64[Z]) and `values` (float32[Z]).

    Keys may be in any order; the values of a key that a vector has more than once are added up.
    """
    n = first.size - 1
    row = np.repeat(np.arange(n), np.diff(first))
    order = np.lexsort((keys, row))
    row, keys, values = row[order], keys[order], values[order]
    begins = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (keys[1:] != keys[:-1]))[: row.size])
    if begins.size < row.size:
        values = np.add.reduceat(values.astype(np.float64), begins).astype(np.float32)
        row, keys = row[begins], keys[begins]
    return SparseRows(np.searchsorted(row, np.arange(n + 1)), keys, values)


def joined(parts: Sequence[SparseRows]) -> SparseRows:
    """The vectors of all `parts`, concatenated."""
    sizes = np.concatenate([np.diff(part.first) for part in parts])
    keys, values = (np.concatenate(arrays) for arrays in zip(*((part.keys, part.values) for part in parts)))
    return SparseRows(_ends(sizes), keys, values)


def _ends(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(sizes, dtype=np.int64)).astype(np.int64)
