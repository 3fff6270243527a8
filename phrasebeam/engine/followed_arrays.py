"""Arrays whose changes are sent to workers: a worker has a copy, and is sent what has changed since the copy was made.

Each message has all changes since the copy, not since the last message. So a worker that missed messages, or repeats
older work, has the same arrays.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class ArrayChanges(NamedTuple):
    """Changes of C elements of parallel arrays."""

    places: np.ndarray  # int64[C]
    values: list[np.ndarray]  # for each array its values at these places, [C]

    @classmethod
    def at(cls, places: np.ndarray, arrays: Sequence[np.ndarray]) -> "ArrayChanges":
        """The elements at `places`."""
        return cls(places, [array[places] for array in arrays])

    @property
    def size(self) -> int:
        return sum(array.nbytes for array in (self.places, *self.values))


NO_PLACES = np.zeros(0, np.int64)


class LeadingArrays:
    """Parallel arrays as they were when they were copied; used by the process that changes the arrays."""

    def __init__(self, arrays: Sequence[np.ndarray]):
        self.copies = [array.copy() for array in arrays]
        self._first, self._bytes_left = arrays[0], sum(array.nbytes for array in arrays)

    def no_changes(self) -> ArrayChanges:
        """Changes of no elements: the state when the copy is made."""
        return ArrayChanges.at(NO_PLACES, self.copies)

    def changes(self, arrays: Sequence[np.ndarray]) -> ArrayChanges | None:
        """The changes since the copy; None if a new copy is better.

        A new copy is better if the first array was replaced, or if all changes so far have as many bytes as the arrays.
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
    """The copies in a process that follows the changes; they are changed in place."""

    def __init__(self, copies: Sequence[np.ndarray]):
        self.arrays = copies
        self._as_copied = ArrayChanges.at(NO_PLACES, copies)  # copied values that the last changes have overwritten

    def follow(self, changes: ArrayChanges) -> None:
        """Undo the last changes, then apply these."""
        self._write(self._as_copied)
        self._as_copied = ArrayChanges.at(changes.places, self.arrays)
        self._write(changes)

    def _write(self, changes: ArrayChanges) -> None:
        for array, values in zip(self.arrays, changes.values):
            array[changes.places] = values
