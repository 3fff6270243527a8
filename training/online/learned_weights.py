"""Weights while they are learned, and their average over steps or epochs, which is computed on demand.

After T steps the average of the weights is w - u / T, where u sums up each change times the number of steps before it
(Daumé 2006, section 2.4): a step costs time only for the features that it changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_struct import ArrayField, array, array_fields
from phrasebeam.decoder.sparse.sparse_weights import (
    NO_KEY,
    SparseWeights,
    claim_slot,
    fill_slots,
    has_room,
    new_sparse_weights,
    slot_of,
)
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.common.best_weights import BestWeights, TableWeights

CHUNK = 1 << 20  # slots that are averaged at a time
ARRAYS = {  # of a checkpoint, see LearnedWeights.arrays
    "counts": array(np.int64, 2),
    **array_fields(BestWeights),
    "late_dense": array(np.float64, "F"),
    "dense_squares": array(np.float64, "F"),
    "late": array(np.float64, "K"),
}
ADAPTIVE_ARRAYS = {"squares": array(np.float64, "K"), "steps": array(np.int64, "K")}


class SlotColumns(NamedTuple):
    """Further columns of a table of weights with T slots."""

    weighted_sum: np.ndarray  # float64[T], u of the average
    group: np.ndarray  # uint8[T], index of GROUPS
    squares: np.ndarray  # float64[T], sum of squared gradients; [0] where no rule adapts rates
    n_steps: np.ndarray  # int64[T], steps that the weight has been through, see AdaGrad; [0] like `squares`


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
            if columns.squares.size > 0:
                larger_columns.squares[slot], larger_columns.n_steps[slot] = columns.squares[i], columns.n_steps[i]
    larger.n_used[0] = weights.n_used[0]


class LearnedWeights:
    """Dense weights, and those of any number of sparse features."""

    def __init__(
        self, dense: np.ndarray, sparse: SparseWeights, is_adaptive: bool = False, group: np.ndarray | None = None
    ):
        """Start with `dense` (float64[F]) and a copy of `sparse`, whose features are of `group` (uint8[T]) by slot.

        `is_adaptive`: with the state of AdaGrad.
        """
        self.n_averaged, self.n_steps, self.is_adaptive = 0, 0, is_adaptive
        self.dense, self.weighted_dense = dense.copy(), np.zeros(dense.size)
        self.dense_squares = np.zeros(dense.size)
        self.sparse = SparseWeights(*(array.copy() for array in sparse))
        self.columns = self._new_columns(self.sparse.keys.size)
        if group is not None:
            self.columns.group[:] = group

    def add(self, dense: np.ndarray, keys: np.ndarray, amounts: np.ndarray, groups: np.ndarray) -> None:
        """Change the weights by `dense` (float64[F]) and `amounts` (float64[K]) of sparse features.

        `keys`, `groups`: uint64[K] and int64[K].
        """
        self.add_dense(dense)
        self.make_room(keys.size)
        add_step(self.sparse, self.columns, keys, amounts, groups, float(self.n_averaged))

    def add_dense(self, dense: np.ndarray) -> None:
        """Change the dense weights by `dense` (float64[F])."""
        self.dense += dense
        self.weighted_dense += self.n_averaged * dense

    def make_room(self, n_more: int) -> None:
        """Make the table as large as `n_more` new features need."""
        while not has_room(self.sparse, n_more):
            larger = new_sparse_weights(3 * self.sparse.keys.size // 2)
            columns = self._new_columns(larger.keys.size)
            move(self.sparse, self.columns, larger, columns)
            self.sparse, self.columns = larger, columns

    def count_in_average(self) -> None:
        """Count the weights as they are in the average, whether or not they changed since the last time."""
        self.n_averaged += 1

    def average(self) -> TableWeights:
        """The weights on average over all times that were counted, or as they are; keys and groups are shared."""
        n_averaged, weighted_sum = max(self.n_averaged, 1), self.columns.weighted_sum
        values = self.sparse.values.copy()
        for begin in range(0, values.size, CHUNK):
            values[begin : begin + CHUNK] -= weighted_sum[begin : begin + CHUNK] / n_averaged
        dense = self.dense - self.weighted_dense / n_averaged
        return TableWeights(dense, self.sparse._replace(values=values), self.columns.group)

    def arrays(self) -> dict[str, np.ndarray]:
        """All weights and sums as named arrays, for a checkpoint."""
        slots = np.flatnonzero(self.sparse.keys)
        arrays = {
            "counts": np.array([self.n_averaged, self.n_steps]),
            "dense": self.dense,
            "late_dense": self.weighted_dense,
            "dense_squares": self.dense_squares,
            "keys": self.sparse.keys[slots],
            "values": self.sparse.values[slots],
            "late": self.columns.weighted_sum[slots],
            "group": self.columns.group[slots],
        }
        if self.is_adaptive:
            arrays |= {"squares": self.columns.squares[slots], "steps": self.columns.n_steps[slots]}
        return arrays

    @staticmethod
    def declared(is_adaptive: bool) -> dict[str, ArrayField]:
        """What `arrays` are, with or without the state of AdaGrad."""
        return ARRAYS | ADAPTIVE_ARRAYS if is_adaptive else ARRAYS

    @staticmethod
    def average_in(arrays: Mapping[str, np.ndarray]) -> BestWeights:
        """The average of the weights whose `arrays` are given, without those that are 0."""
        n_averaged = max(int(arrays["counts"][0]), 1)
        values = arrays["values"] - arrays["late"] / n_averaged
        kept = np.flatnonzero(values)
        dense = arrays["dense"] - arrays["late_dense"] / n_averaged
        return BestWeights(dense, arrays["keys"][kept], values[kept], arrays["group"][kept])

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray]) -> "LearnedWeights":
        """The learned weights whose `arrays` are given."""
        keys = arrays["keys"]
        learned = cls(arrays["dense"], new_sparse_weights(keys.size), "squares" in arrays)
        slots = np.empty(keys.size, np.int64)
        fill_slots(learned.sparse, keys, slots)
        columns = learned.columns
        learned.sparse.values[slots], columns.weighted_sum[slots] = arrays["values"], arrays["late"]
        columns.group[slots] = arrays["group"]
        if learned.is_adaptive:
            columns.squares[slots], columns.n_steps[slots] = arrays["squares"], arrays["steps"]
        learned.weighted_dense, learned.dense_squares = arrays["late_dense"].copy(), arrays["dense_squares"].copy()
        learned.n_averaged, learned.n_steps = arrays["counts"].tolist()
        return learned

    def _new_columns(self, n_slots: int) -> SlotColumns:
        n_adaptive = n_slots if self.is_adaptive else 0
        return SlotColumns(
            np.zeros(n_slots), np.zeros(n_slots, np.uint8), np.zeros(n_adaptive), np.zeros(n_adaptive, np.int64)
        )
