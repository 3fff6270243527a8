"""Weights during learning, and their average over steps or epochs, which is computed on demand.

After T steps the average of the weights is w - u / T, where u is the sum of each change times the number of steps
before it (Daumé 2006, section 2.4). So a step takes time only for the features that it changes.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from phrasebeam.base.array_struct import ArrayField, array, array_fields
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, claim_slot, fill_slots, has_room, new_sparse_weights
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.common.best_weights import BestWeights, TableWeights
from phrasebeam.training.online.rule_state import NoColumns, RuleState

CHUNK = 1 << 20  # slots that are averaged or moved at a time, which bounds the memory of intermediate arrays
ARRAYS = {  # arrays of a checkpoint, see LearnedWeights.arrays
    "counts": array(np.int64, 2),
    **array_fields(BestWeights),
    "late_dense": array(np.float64, "F"),
    "late": array(np.float64, "K"),
}
Columns = TypeVar("Columns")


class SlotColumns(NamedTuple):
    """Additional columns of a table of weights with T slots."""

    weighted_sum: np.ndarray  # float64[T], u of the average
    group: np.ndarray  # uint8[T], index of GROUPS


@kernel
def add_step(weights: SparseWeights, columns: SlotColumns, keys, amounts, groups, n_before):
    """Add `amounts` (float64[K]) to the weights of `keys` (uint64[K]), and `n_before` * `amounts` to the weighted sum.

    `groups` (int64[K]): the groups of the features; `n_before`: float64. The table must have room for new keys.
    """
    for i in range(keys.size):
        slot = claim_slot(weights, keys[i])
        weights.values[slot] += amounts[i]
        columns.weighted_sum[slot] += n_before * amounts[i]
        columns.group[slot] = groups[i]


class LearnedWeights:
    """Dense weights, weights of any number of sparse features, and the state of an update rule for each weight."""

    def __init__(self, dense: np.ndarray, sparse: SparseWeights, group: np.ndarray | None = None):
        """Start with `dense` (float64[F]) and a copy of `sparse`; `group` (uint8[T]): the group of each slot."""
        self.n_averaged = 0
        self.dense, self.weighted_dense = dense.copy(), np.zeros(dense.size)
        self.sparse = SparseWeights(*(array.copy() for array in sparse))
        self.columns = _new_columns(self.sparse.keys.size)
        if group is not None:
            self.columns.group[:] = group
        self.keep(NoColumns)

    def keep(self, columns: type) -> None:
        """Begin with the initial state of a rule that declares these columns, see RuleState."""
        self.state = RuleState.new(columns, self.dense.size, self.sparse.keys.size)

    def columns_of(self, kind: type[Columns]) -> tuple[Columns, Columns]:
        """The columns of a rule for dense features, and for slots. Raises TypeError if they belong to another rule."""
        if type(self.state.slots) is not kind:
            kept = type(self.state.slots).__name__
            raise TypeError(f"weights with {kept}, expected {kind.__name__}; call keep with the columns of the rule")
        return self.state.dense, self.state.slots

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

    def slots_of(self, keys: np.ndarray) -> np.ndarray:
        """The slots (int64[K]) of `keys` (uint64[K]); new keys get a slot. Slots change when the table grows."""
        self.make_room(keys.size)
        slots = np.empty(keys.size, np.int64)
        fill_slots(self.sparse, keys, slots)
        return slots

    def make_room(self, n_more: int) -> None:
        """Make the table large enough for `n_more` new features."""
        while not has_room(self.sparse, n_more):
            larger = new_sparse_weights(3 * self.sparse.keys.size // 2)
            columns, state = _new_columns(larger.keys.size), self.state.larger(larger.keys.size)
            old, new = (self.sparse.values, *self.columns, *self.state.slots), (larger.values, *columns, *state.slots)
            for begin in range(0, self.sparse.keys.size, CHUNK):
                slots = begin + np.flatnonzero(self.sparse.keys[begin : begin + CHUNK])
                to = np.empty(slots.size, np.int64)
                fill_slots(larger, self.sparse.keys[slots], to)
                for column, larger_column in zip(old, new):
                    larger_column[to] = column[slots]
            self.sparse, self.columns, self.state = larger, columns, state

    def count_in_average(self) -> None:
        """Add the current weights to the average, whether or not they have changed since the last time."""
        self.n_averaged += 1

    def average(self, most: int | None = None) -> TableWeights:
        """The average of all weights added by count_in_average, or the current weights if there are none.

        With `most`, only so many sparse weights: see BestWeights.largest. Otherwise the arrays of keys and groups are
        shared.
        """
        dense = self.dense - self.weighted_dense / max(self.n_averaged, 1)
        if most is not None and most < self.sparse.n_used[0]:
            return self._largest_averages(dense, most).in_table()
        values = np.empty(self.sparse.values.size)
        for chunk, averages in self._averages():
            values[chunk] = averages
        return TableWeights(dense, self.sparse._replace(values=values), self.columns.group)

    def _largest_averages(self, dense: np.ndarray, most: int) -> BestWeights:
        """The `most` largest averages, with `dense` weights, without a copy of the whole table."""
        sizes, n_found = np.empty(int(self.sparse.n_used[0])), 0
        for _, averages in self._averages():
            found = np.abs(averages[averages != 0])
            sizes[n_found : n_found + found.size] = found
            n_found += found.size
        least = 0.0 if n_found <= most else np.partition(sizes[:n_found], n_found - most)[n_found - most]
        parts = []
        for chunk, averages in self._averages():
            kept = np.flatnonzero((averages != 0) & (np.abs(averages) >= least))
            parts.append((self.sparse.keys[chunk][kept], averages[kept], self.columns.group[chunk][kept]))
        return BestWeights(dense, *map(np.concatenate, zip(*parts))).largest(most)

    def _averages(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of the table, and the averages (float64) of the weights in them."""
        n_averaged = max(self.n_averaged, 1)
        for begin in range(0, self.sparse.values.size, CHUNK):
            chunk = slice(begin, begin + CHUNK)
            yield chunk, self.sparse.values[chunk] - self.columns.weighted_sum[chunk] / n_averaged

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield names and arrays of all weights, sums and columns, for a checkpoint."""
        slots = np.flatnonzero(self.sparse.keys)
        yield "counts", np.array([self.n_averaged, self.state.n_steps])
        yield "dense", self.dense
        yield "late_dense", self.weighted_dense
        yield "keys", self.sparse.keys[slots]
        yield "values", self.sparse.values[slots]
        yield "late", self.columns.weighted_sum[slots]
        yield "group", self.columns.group[slots]
        yield from self.state.arrays(slots)

    @staticmethod
    def declared(columns: type) -> dict[str, ArrayField]:
        """Dtypes and shapes of the result of `arrays`, with the state of a rule that declares these columns."""
        return ARRAYS | RuleState.declared(columns)

    @staticmethod
    def average_in(arrays: Mapping[str, np.ndarray]) -> BestWeights:
        """The average of the weights in `arrays`, the arrays of a checkpoint, without weights that are 0."""
        n_averaged = max(int(arrays["counts"][0]), 1)
        values = arrays["values"] - arrays["late"] / n_averaged
        kept = np.flatnonzero(values)
        dense = arrays["dense"] - arrays["late_dense"] / n_averaged
        return BestWeights(dense, arrays["keys"][kept], values[kept], arrays["group"][kept])

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray], columns: type = NoColumns) -> "LearnedWeights":
        """The weights in `arrays`, the arrays of a checkpoint, with the state of a rule that declares these columns."""
        learned = cls(arrays["dense"], new_sparse_weights(arrays["keys"].size))
        slots = learned.slots_of(arrays["keys"])
        learned.sparse.values[slots], learned.columns.weighted_sum[slots] = arrays["values"], arrays["late"]
        learned.columns.group[slots] = arrays["group"]
        learned.weighted_dense = arrays["late_dense"].copy()
        learned.keep(columns)
        learned.state.restore(arrays, slots)
        learned.n_averaged, learned.state.n_steps = arrays["counts"].tolist()
        return learned


def _new_columns(n_slots: int) -> SlotColumns:
    return SlotColumns(np.zeros(n_slots), np.zeros(n_slots, np.uint8))
