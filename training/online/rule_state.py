"""The state of an update rule: named columns, with a row for each dense feature and for each slot of sparse features.

A rule declares its columns as a NamedTuple, e.g. `squares: Annotated[np.ndarray, array(np.float64, "N")]`. They begin
with the values declared there, also when a shard begins an epoch with the mixed weights of all shards.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from phrasebeam.base.array_struct import ArrayField, allocate, array_fields


class NoColumns(NamedTuple):
    """The columns of a rule without a state."""


@dataclass
class RuleState:
    """The columns of a rule for F dense features and for T slots of sparse features."""

    dense: Any  # a NamedTuple of arrays [F]
    slots: Any  # a NamedTuple of the same class, of arrays [T]
    n_steps: int = 0  # steps so far

    @classmethod
    def new(cls, columns: type, n_dense: int, n_slots: int) -> Self:
        """The state before the first step; `columns`: the class that the rule declares."""
        return cls(allocate(columns, {"N": n_dense}), allocate(columns, {"N": n_slots}))

    def larger(self, n_slots: int) -> "RuleState":
        """The state for a table of `n_slots`; its rows of slots are not filled yet."""
        return RuleState(self.dense, allocate(type(self.slots), {"N": n_slots}), self.n_steps)

    def arrays(self, slots: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the columns as named arrays of a checkpoint; of sparse features, only the rows `slots` (int64[K])."""
        for name, dense, column in zip(type(self.slots)._fields, self.dense, self.slots):
            yield f"dense_{name}", dense
            yield f"sparse_{name}", column[slots]

    @staticmethod
    def declared(columns: type) -> dict[str, ArrayField]:
        """Dtypes and shapes of the result of `arrays` for a rule with these columns."""
        fields = array_fields(columns).items()
        dense = {f"dense_{name}": field._replace(shape=("F",)) for name, field in fields}
        return dense | {f"sparse_{name}": field._replace(shape=("K",)) for name, field in fields}

    def restore(self, arrays: Mapping[str, np.ndarray], slots: np.ndarray) -> None:
        """Set the columns from `arrays`; `slots` (int64[K]): the slots of the sparse features in them."""
        for name, dense, sparse in zip(type(self.slots)._fields, self.dense, self.slots):
            dense[:], sparse[slots] = arrays[f"dense_{name}"], arrays[f"sparse_{name}"]
