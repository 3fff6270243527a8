"""Arrays that workers follow while they change: workers have a copy, and are sent what has changed since it was made.

Sent are the changes since the copy, not since the last ones, so that a worker that missed some, or does older work
again, has the same arrays.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class ArrayChanges(NamedTuple):
    """Changes of parallel arrays in C of their elements."""

    places: np.ndarray  # int64[C]
    values: list[np.ndarray]  # each [C], of each array

    @classmethod
    def at(cls, places: np.ndarray, arrays: Sequence[np.ndarray]) -> "ArrayChanges":
        """The elements at `places`."""
        return cls(places, [array[places] for array in arrays])

    @property
    def size(self) -> int:
        return sum(array.nbytes for array in (self.places, *self.values))


NO_PLACES = np.zeros(0, np.int64)


class LeadingArrays:
    """Parallel arrays as they were when they were copied, for the process in which they change."""

    def __init__(self, arrays: Sequence[np.ndarray]):
        self.copies = [array.copy() for array in arrays]
        self._first, self._bytes_left = arrays[0], sum(array.nbytes for array in arrays)

    def no_changes(self) -> ArrayChanges:
        """Changes without any, as when the copy is made."""
        return ArrayChanges.at(NO_PLACES, self.copies)

    def changes(self, arrays: Sequence[np.ndarray]) -> ArrayChanges | None:
        """The changes since the copy; None if a new copy is better.

        It is if the first array was replaced, or if all changes so far have as many bytes as the arrays.
        """
        if arrays[0] is not self._first:
            return None
        differs = np.zeros(arrays[0].size, bool)
        for array, copy in zip(arrays, self.copies):
            differs |= array != copy
        found = ArrayChanges.at(np.flatnonzero(differs), arrays)
        self._bytes_left -= found.size
        return found if self._bytes_left >= 0 else None


class FollowingArrays:
    """The copies, for a process that follows; they are changed in place."""

    def __init__(self, copies: Sequence[np.ndarray]):
        self.arrays = copies
        self._as_copied = ArrayChanges.at(NO_PLACES, copies)  # what the last changes have overwritten

    def follow(self, changes: ArrayChanges) -> None:
        """Undo the last changes, then apply these."""
        self._write(self._as_copied)
        self._as_copied = ArrayChanges.at(changes.places, self.arrays)
        self._write(changes)

    def _write(self, changes: ArrayChanges) -> None:
        for array, values in zip(self.arrays, changes.values):
            array[changes.places] = values
