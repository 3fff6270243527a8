"""Histories: what the scores of the next phrase depend on besides words and coverage.

A history is a row of numbers: Options.state of the last option, then the columns that the active features declare.
Equal histories have one id, which recombination compares.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

START_HISTORY = np.int64(0)
NO_HISTORY = np.int64(-1)


class Histories(NamedTuple):
    """A hash table with room for B histories; a history is a row of C numbers."""

    size: Annotated[np.ndarray, array(np.int64, 1)]  # number of histories
    columns: Annotated[np.ndarray, array(np.int64, "B", "C")]  # column 0: Options.state of the last option
    row: Annotated[np.ndarray, array(np.int64, "C")]  # scratch space: the history that is looked for
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table of ids, T a power of two >= 2 B


def new_histories(capacity: int, n_columns: int) -> Histories:
    """A table with room for `capacity` histories, a power of two, of up to `n_columns` columns."""
    return allocate(Histories, {"B": capacity, "T": 2 * capacity, "C": n_columns})


@inner_kernel
def forget_histories(histories: Histories):
    """Empty the table but keep START_HISTORY, whose columns become EMPTY (-1)."""
    histories.size[0] = 1
    histories.slots[:] = EMPTY
    histories.columns[START_HISTORY, :] = EMPTY


@inlined_kernel
def intern_history(histories: Histories, n_columns):
    """Id (int64) of the history in the first `n_columns` (int64) of histories.row; NO_HISTORY if the table is full."""
    row, columns, h = histories.row, histories.columns, START
    for i in range(n_columns):
        h = combine(h, row[i])
    slot = first_slot(mix(h), histories.slots.size)
    while histories.slots[slot] != EMPTY:
        history, i = np.int64(histories.slots[slot]), 0
        while i < n_columns and columns[history, i] == row[i]:
            i += 1
        if i == n_columns:
            return history
        slot = next_slot(slot, histories.slots.size)
    new = histories.size[0]
    if new == columns.shape[0]:
        return NO_HISTORY
    for i in range(n_columns):
        columns[new, i] = row[i]
    histories.slots[slot] = new
    histories.size[0] = new + 1
    return new
