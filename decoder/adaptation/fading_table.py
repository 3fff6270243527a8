"""Counts by key that decay with time: a hash table in arrays, which kernels fill and read.

A count is stored with its value and the time at the last addition. Its present value is that value times `decay` to the
power of the time passed since then.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.hashing import EMPTY, first_slot, mix, n_slots, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel


class FadingTable(NamedTuple):
    """N counts; the arrays have room for C."""

    slots: np.ndarray  # int32[S], the number of a key or EMPTY; S a power of two, at least twice C
    keys: np.ndarray  # uint64[C], hashes of what is counted
    values: np.ndarray  # float64[C], the counts at `times`
    times: np.ndarray  # int32[C]
    size: np.ndarray  # int64[1], N


def new_table(n_keys: int) -> FadingTable:
    """An empty table with room for at least `n_keys` keys."""
    size = n_slots(n_keys)
    return FadingTable(
        np.full(size, EMPTY, np.int32),
        np.empty(size // 2, np.uint64),
        np.empty(size // 2),
        np.empty(size // 2, np.int32),
        np.zeros(1, np.int64),
    )


def with_room(table: FadingTable, n_more: int) -> FadingTable:
    """The table, or a larger one with the same counts and numbers, with room for `n_more` further keys."""
    n = int(table.size[0])
    if n + n_more <= table.keys.size:
        return table
    larger = new_table(max(n + n_more, 2 * n))
    for old, new in zip(table[1:4], larger[1:4]):
        new[:n] = old[:n]
    larger.size[0] = n
    _fill_slots(larger)
    return larger


@kernel
def _fill_slots(table: FadingTable):
    """Enter all keys into the slots, which must be empty."""
    for number in range(table.size[0]):
        table.slots[_slot(table, table.keys[number])] = number


@inlined_kernel
def _slot(table, key):
    """The slot (int64) of a key (uint64), or the empty slot where it belongs."""
    slot = first_slot(mix(key), table.slots.size)
    while table.slots[slot] != EMPTY and table.keys[table.slots[slot]] != key:
        slot = next_slot(slot, table.slots.size)
    return slot


@inner_kernel
def number_of(table: FadingTable, key):
    """The number (int64) of a key (uint64), or EMPTY."""
    return np.int64(table.slots[_slot(table, key)])


@inner_kernel
def number_or_new(table: FadingTable, key):
    """The number (int64) of a key (uint64); a new key is entered with the count 0."""
    slot = _slot(table, key)
    if table.slots[slot] == EMPTY:
        number = table.size[0]
        table.slots[slot], table.keys[number] = number, key
        table.values[number], table.times[number] = 0.0, 0
        table.size[0] = number + 1
    return np.int64(table.slots[slot])


@inlined_kernel
def faded(table: FadingTable, number, time, decay):
    """The count of a `number` (int64) at a `time` (int64), with `decay` (float64); 0 for EMPTY."""
    if number == EMPTY:
        return 0.0
    return table.values[number] * decay ** (time - np.int64(table.times[number]))


@inlined_kernel
def add_count(table: FadingTable, number, amount, time, decay):
    """Add `amount` (float64) to the count of a `number` (int64) at a `time` (int64), with `decay` (float64)."""
    table.values[number] = faded(table, number, time, decay) + amount
    table.times[number] = time
