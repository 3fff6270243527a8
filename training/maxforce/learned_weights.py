"""Weights while they are learned, and their average over all steps, which is computed only where it is asked for.

After T steps the average of the weights is w - u / T, where u sums up each step times the number of steps before it
(Daumé 2006, section 2.4): a step touches nothing but the features that it changes.
"""

from collections.abc import Mapping

import numpy as np

from decoder.features.sparse_weights import NO_KEY, SparseWeights, has_room, new_sparse_weights, slot_of
from lm.jit import kernel

CHUNK = 1 << 20  # slots that are averaged at a time


@kernel
def add_step(weights, late, keys, amounts, n_before):
    """Add `amounts` (float64[K]) to the weights of `keys` (uint64[K]), and `n_before` times as much to `late`.

    `late` (float64[T]) is aligned with the slots of the table; see has_room.
    """
    for i in range(keys.size):
        slot = slot_of(weights, keys[i])
        if weights.keys[slot] == NO_KEY:
            weights.keys[slot] = keys[i]
            weights.n_used[0] += 1
        weights.values[slot] += amounts[i]
        late[slot] += n_before * amounts[i]


@kernel
def move(weights, late, larger, larger_late):
    """Copy a table and what is aligned with it into a larger one, which is empty."""
    for i in range(weights.keys.size):
        if weights.keys[i] != NO_KEY:
            slot = slot_of(larger, weights.keys[i])
            larger.keys[slot], larger.values[slot] = weights.keys[i], weights.values[i]
            larger_late[slot] = late[i]
    larger.n_used[0] = weights.n_used[0]


class LearnedWeights:
    """Dense weights, and those of any number of sparse features."""

    def __init__(self, dense: np.ndarray, sparse: SparseWeights):
        """Start with `dense` (float64[F]) and a copy of `sparse`."""
        self.n_steps = 0
        self.dense, self.late_dense = dense.copy(), np.zeros(dense.size)
        self.sparse = SparseWeights(*(array.copy() for array in sparse))
        self.late = np.zeros(self.sparse.keys.size)

    def add(self, dense: np.ndarray, keys: np.ndarray, amounts: np.ndarray) -> None:
        """A part of the next step, which `end_step` ends."""
        self.dense += dense
        self.late_dense += self.n_steps * dense
        while not has_room(self.sparse, keys.size):
            larger = SparseWeights(*new_sparse_weights(2 * self.sparse.keys.size * 3 // 4))
            late = np.zeros(larger.keys.size)
            move(self.sparse, self.late, larger, late)
            self.sparse, self.late = larger, late
        add_step(self.sparse, self.late, keys, amounts, float(self.n_steps))

    def end_step(self) -> None:
        """The step is whole, and counts in the average, changed or not."""
        self.n_steps += 1

    def average(self) -> tuple[np.ndarray, SparseWeights]:
        """Dense and sparse weights, on average over all steps; the keys are shared with the table."""
        n_steps, values = max(self.n_steps, 1), self.sparse.values.copy()
        for begin in range(0, values.size, CHUNK):
            values[begin : begin + CHUNK] -= self.late[begin : begin + CHUNK] / n_steps
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
            "late": self.late[slots],
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray]) -> "LearnedWeights":
        """What `arrays` gave."""
        learned = cls(arrays["dense"], new_sparse_weights(arrays["keys"].size))
        add_step(learned.sparse, learned.late, arrays["keys"], arrays["values"], 0.0)
        for_late = learned.sparse._replace(values=learned.late, n_used=np.zeros(1, np.int64))
        add_step(for_late, np.zeros(learned.late.size), arrays["keys"], arrays["late"], 0.0)
        learned.n_steps, learned.late_dense = int(arrays["n_steps"]), arrays["late_dense"].copy()
        return learned
