"""Weights while they are learned, and their average over all steps, which is computed on demand.

After T steps the average of the weights is w - u / T, where u sums up each step times the number of steps before it
(Daumé 2006, section 2.4): a step costs time only for the features that it changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import (
    NO_KEY,
    SparseWeights,
    claim_slot,
    has_room,
    new_sparse_weights,
    slot_of,
)
from phrasebeam.kernels.jit import kernel

CHUNK = 1 << 20  # slots that are averaged at a time


class SlotColumns(NamedTuple):
    """Further columns of a table of weights with T slots."""

    weighted_sum: np.ndarray  # float64[T], u of the average
    group: np.ndarray  # uint8[T], index of GROUPS


@kernel
def add_step(weights: SparseWeights, columns: SlotColumns, keys, amounts, groups, n_before):
    """Add `amounts` (float64[K]) to the weights of `keys` (uint64[K]), and `n_before` (float64) times that to the sum.

    `groups` (int64[K]): the groups of the features. The table must have room for new keys.
    """
    for i in range(keys.size):
        slot = claim_slot(weights, keys[i])
        weights.values[slot] += amounts[i]
        columns.weighted_sum[slot] += n_before * amounts[i]
        columns.group[slot] = groups[i]


@kernel
def move(weights: SparseWeights, columns: SlotColumns, larger: SparseWeights, larger_columns: SlotColumns):
    """Copy a table and its further columns into a larger one, which is empty."""
    for i in range(weights.keys.size):
        if weights.keys[i] != NO_KEY:
            slot = slot_of(larger, weights.keys[i])
            larger.keys[slot], larger.values[slot] = weights.keys[i], weights.values[i]
            larger_columns.weighted_sum[slot], larger_columns.group[slot] = columns.weighted_sum[i], columns.group[i]
    larger.n_used[0] = weights.n_used[0]


class LearnedWeights:
    """Dense weights, and those of any number of sparse features."""

    def __init__(self, dense: np.ndarray, sparse: SparseWeights):
        """Start with `dense` (float64[F]) and a copy of `sparse`."""
        self.n_steps = 0
        self.dense, self.weighted_dense = dense.copy(), np.zeros(dense.size)
        self.sparse = SparseWeights(*(array.copy() for array in sparse))
        self.columns = _new_columns(self.sparse.keys.size)

    def add(self, dense: np.ndarray, keys: np.ndarray, amounts: np.ndarray, groups: np.ndarray) -> None:
        """Add to the current step, which `end_step` ends.

        `dense`: float64[F]; `keys`, `amounts`, `groups`: uint64[K], float64[K] and int64[K] of sparse features.
        """
        self.dense += dense
        self.weighted_dense += self.n_steps * dense
        while not has_room(self.sparse, keys.size):
            larger = new_sparse_weights(3 * self.sparse.keys.size // 2)
            columns = _new_columns(larger.keys.size)
            move(self.sparse, self.columns, larger, columns)
            self.sparse, self.columns = larger, columns
        add_step(self.sparse, self.columns, keys, amounts, groups, float(self.n_steps))

    def end_step(self) -> None:
        """End a step; it counts in the average even if it changed no weight."""
        self.n_steps += 1

    def average(self) -> tuple[np.ndarray, SparseWeights]:
        """Dense and sparse weights, on average over all steps; the keys are shared with the table."""
        n_steps, values, weighted_sum = max(self.n_steps, 1), self.sparse.values.copy(), self.columns.weighted_sum
        for begin in range(0, values.size, CHUNK):
            values[begin : begin + CHUNK] -= weighted_sum[begin : begin + CHUNK] / n_steps
        return self.dense - self.weighted_dense / n_steps, self.sparse._replace(values=values)

    def arrays(self) -> dict[str, np.ndarray]:
        """All weights and sums as named arrays, for a checkpoint."""
        slots = np.flatnonzero(self.sparse.keys)
        return {
            "n_steps": np.array(self.n_steps),
            "dense": self.dense,
            "late_dense": self.weighted_dense,
            "keys": self.sparse.keys[slots],
            "values": self.sparse.values[slots],
            "late": self.columns.weighted_sum[slots],
            "group": self.columns.group[slots],
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray]) -> "LearnedWeights":
        """The learned weights whose `arrays` are given."""
        keys = arrays["keys"]
        learned = cls(arrays["dense"], new_sparse_weights(keys.size))
        groups = arrays["group"].astype(np.int64)
        add_step(learned.sparse, learned.columns, keys, arrays["values"], groups, 0.0)
        weighted_sum = learned.sparse._replace(values=learned.columns.weighted_sum, n_used=np.zeros(1, np.int64))
        add_step(weighted_sum, _new_columns(weighted_sum.keys.size), keys, arrays["late"], groups, 0.0)
        learned.n_steps, learned.weighted_dense = int(arrays["n_steps"]), arrays["late_dense"].copy()
        return learned


def _new_columns(n_slots: int) -> SlotColumns:
    return SlotColumns(np.zeros(n_slots), np.zeros(n_slots, np.uint8))
