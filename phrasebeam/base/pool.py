"""Pools of objects and arrays that are expensive to make: they are used again, by one thread at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import numpy as np

Item = TypeVar("Item")


class Pool(Generic[Item]):
    """Keeps the objects that threads borrow: as many as were borrowed at the same time at most."""

    def __init__(self, make: Callable[[], Item]):
        """`make` makes a new object when all others are in use."""
        self._make, self._idle = make, list[Item]()

    @contextmanager
    def borrow(self) -> Iterator[Item]:
        """Lend an object to one thread until the context ends: the one returned last, or a new one if all are in use.

        It goes back into the pool unless the context ends with an exception, which may leave it half changed.
        """
        try:
            item = self._idle.pop()  # appending and popping are atomic
        except IndexError:
            item = self._make()
        yield item
        self._idle.append(item)

    def __reduce__(self) -> tuple[object, ...]:
        return Pool, (self._make,)  # pickled without the objects; another process makes new ones


class ScratchArrays:
    """Scratch arrays of a thread, by name. They grow and are kept, since new memory costs more than filling it."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def take(self, name: str, dtype: Any, *shape: int) -> np.ndarray:
        """An array of `dtype` and `shape` with arbitrary contents, valid until `name` is taken again."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] < shape[0] or array.shape[1:] != shape[1:]:
            array = np.empty((max(2 * shape[0], 1 << 8), *shape[1:]), dtype)
            self._arrays[name] = array
        return array[: shape[0]]
