"""A pool of objects that are expensive to make, each used by one thread at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Pool(Generic[Item]):
    """Holds as many objects as were ever borrowed at the same time; any thread may borrow one."""

    def __init__(self, make: Callable[[], Item]):
        """`make` makes a new object when all others are borrowed."""
        self._make, self._idle = make, list[Item]()

    @contextmanager
    def borrow(self) -> Iterator[Item]:
        """An object that nobody else has until the context ends: the one that was returned last, or a new one.

        It goes back into the pool unless the context ends with an exception, which may leave it half changed.
        """
        try:
            item = self._idle.pop()  # appending and popping are atomic
        except IndexError:
            item = self._make()
        yield item
        self._idle.append(item)
