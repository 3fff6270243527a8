"""Weights while they are learned, and their average over all steps, which is computed only where it is asked for.

After T steps the average of the weights is w - u / T, where u sums up each step times the number of steps before it
(Daumé 2006, section 2.4): a step touches nothing but the features that it changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import NO_KEY, SparseWeights, has_room, new_sparse_weights, slot_of
from phrasebeam.kernels.jit import kernel

CHUNK = 1 << 20  # slots that are averaged at a time


class Beside(NamedTuple):
    """What is aligned with the T slots of a table of weights."""

    late: np.ndarray  # float64[T], u of the average
    group: np.ndarray  # uint8[T], see GROUPS


@kernel
def add_step(weights, beside, keys, amounts, groups, n_before):
    """Add `amounts` (float64[K]) to the weights of `keys` (uint64[K]), and `n_before` times as much to beside.late."""
    for i in range(keys.size):
        slot = slot_of(weights, keys[i])
        if weights.keys[slot] == NO_KEY:
            weights.keys[slot] = keys[i]
            weights.n_used[0] += 1
        weights.values[slot] += amounts[i]
        beside.late[slot] += n_before * amounts[i]
        beside.group[slot] = groups[i]


@kernel
def move(weights, beside, larger, larger_beside):
    """Copy a table and what is aligned with it into a larger one, which is empty."""
    for i in range(weights.keys.size):
        if weights.keys[i] != NO_KEY:
            slot = slot_of(larger, weights.keys[i])
            larger.keys[slot], larger.values[slot] = weights.keys[i], weights.values[i]
            larger_beside.late[slot], larger_beside.group[slot] = beside.late[i], beside.group[i]
    larger.n_used[0] = weights.n_used[0]


class LearnedWeights:
    """Dense weights, and those of any number of sparse features."""

    def __init__(self, dense: np.ndarray, sparse: SparseWeights):
        """Start with `dense` (float64[F]) and a copy of `sparse`."""
        self.n_steps = 0
        self.dense, self.late_dense = dense.copy(), np.zeros(dense.size)
        self.sparse = SparseWeights(*(array.copy() for array in sparse))
        self.beside = _new_beside(self.sparse.keys.size)

    def add(self, dense: np.ndarray, keys: np.ndarray, amounts: np.ndarray, groups: np.ndarray) -> None:
        """A part of the next step, which `end_step` ends: float64[F], uint64[K], float64[K], int64[K]."""
        self.dense += dense
        self.late_dense += self.n_steps * dense
        while not has_room(self.sparse, keys.size):
            larger = new_sparse_weights(3 * self.sparse.keys.size // 2)
            beside = _new_beside(larger.keys.size)
            move(self.sparse, self.beside, larger, beside)
            self.sparse, self.beside = larger, beside
        add_step(self.sparse, self.beside, keys, amounts, groups, float(self.n_steps))

    def end_step(self) -> None:
        """The step is whole, and counts in the average, changed or not."""
        self.n_steps += 1

    def average(self) -> tuple[np.ndarray, SparseWeights]:
        """Dense and sparse weights, on average over all steps; the keys are shared with the table."""
        n_steps, values, late = max(self.n_steps, 1), self.sparse.values.copy(), self.beside.late
        for begin in range(0, values.size, CHUNK):
            values[begin : begin + CHUNK] -= late[begin : begin + CHUNK] / n_steps
        return self.dense - self.late_dense / n_steps, self.sparse._replace(values=values)

    def arrays(self) -> dict[str, np.ndarray]:
        """All that there is, to be kept."""
        slots = np.flatnonzero(self.sparse.keys)
        return {
            "n_steps": np.array(self.n_steps),
            "dense": self.dense,
            "late_dense": self.late_dense,
            "keys": self.sparse.keys[slots],
            "values": self.sparse.values[slots],
            "late": self.beside.late[slots],
            "group": self.beside.group[slots],
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray]) -> "LearnedWeights":
        """What `arrays` gave."""
        keys = arrays["keys"]
        learned = cls(arrays["dense"], new_sparse_weights(keys.size))
        groups = arrays["group"].astype(np.int64)
        add_step(learned.sparse, learned.beside, keys, arrays["values"], groups, 0.0)
        late = learned.sparse._replace(values=learned.beside.late, n_used=np.zeros(1, np.int64))
        add_step(late, _new_beside(late.keys.size), keys, arrays["late"], groups, 0.0)
        learned.n_steps, learned.late_dense = int(arrays["n_steps"]), arrays["late_dense"].copy()
        return learned


def _new_beside(n_slots: int) -> Beside:
    return Beside(np.zeros(n_slots), np.zeros(n_slots, np.uint8))
