"""A function mapped over a stream by several threads: results in order, in bounded memory."""

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 192  # items per thread that are read, and results that wait, in advance; fewer if items take long
MOST_AT_ONCE = 64  # items that a thread takes at a time; fewer if items take long
SECONDS_AT_ONCE = 0.01  # in which a thread should work through the items that it takes at a time


class Together(ABC, Generic[Item, Result]):
    """A function of an item that handles several items together faster than one after the other."""

    @abstractmethod
    def __call__(self, item: Item) -> Result: ...

    @abstractmethod
    def of_several(self, items: Sequence[Item]) -> Iterator[Result]:
        """The results of the items, in order; if an item raises an exception, after the results of the items before."""


def results_of(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results of the items, computed together if the function can do that."""
    return function.of_several(items) if isinstance(function, Together) else map(function, items)


def map_ordered(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result]:
    """Yield function(item) for every item, in order, each soon after it is known, computed by `threads` threads.

    Items are read in another thread, so that a result never waits for the next item. A thread takes several items at
    once, as many as take some milliseconds, since handing over an item takes longer than a short function. An exception
    raised by reading is raised here after the results of all items before it. A caller that stops early or is
    interrupted waits only for the items in progress.
    """
    work = _Work[Item, Result](function, items, threads)
    workers = [threading.Thread(target=work.do, daemon=True) for _ in range(threads)]
    for thread in [*workers, threading.Thread(target=work.read, daemon=True)]:
        thread.start()
    try:
        while (batch := work.next_batch()) is not None:
            yield from batch.results
            if batch.error is not None:
                raise batch.error
    finally:
        work.stop()
        # An abandoned generator is closed by the garbage collector, which may run in any thread, a worker included.
        if threading.current_thread() not in workers:
            for thread in workers:
                thread.join()


@dataclass(eq=False)
class _Batch(Generic[Item, Result]):
    """Items that a thread took at once, and their results."""

    items: list[Item]
    results: list[Result] = field(default_factory=list)
    error: BaseException | None = None  # raised by the item after the last of these results
    is_done: bool = False


class _Work(Generic[Item, Result]):
    """State that the threads of a map share: items that were read, and batches in their order."""

    def __init__(self, function: Callable[[Item], Result], items: Iterable[Item], threads: int):
        self._function, self._items, self._threads = function, items, threads
        lock = threading.Lock()
        self._has_room, self._has_items, self._has_results = (threading.Condition(lock) for _ in range(3))
        self._waiting, self._batches = deque[Item](), deque[_Batch[Item, Result]]()
        self._n_ahead = 0  # items that were read and whose results have not been returned
        self._size = 1  # size of the next batch of the thread that finished a batch last
        self._has_ended = self._is_stopped = False
        self._error: BaseException | None = None  # raised by reading

    @property
    def _most_ahead(self) -> int:
        """The number of items that are read in advance: batches for all threads, and some more."""
        return min(8 + 2 * self._size, AHEAD) * self._threads

    def read(self) -> None:
        """Read items until they end or the map is stopped, but not further ahead than allowed."""
        error = None
        try:
            for item in self._items:
                with self._has_room:
                    while self._n_ahead >= self._most_ahead and not self._is_stopped:
                        self._has_room.wait()
                    if self._is_stopped:
                        return
                    self._waiting.append(item)
                    self._n_ahead += 1
                    self._has_items.notify()
        except BaseException as found:
            error = found
        with self._has_items:
            self._has_ended, self._error = True, error
            self._has_items.notify_all()
            self._has_results.notify()

    def do(self) -> None:
        """Work on batches until there are no more."""
        size = 1
        while (batch := self._take(size)) is not None:
            begin = time.perf_counter()
            try:
                for result in results_of(self._function, batch.items):
                    batch.results.append(result)
                    if self._is_stopped:
                        break
            except BaseException as error:
                batch.error = error
            seconds = time.perf_counter() - begin
            size = max(1, min(int(SECONDS_AT_ONCE / max(seconds / len(batch.items), 1e-9)), 2 * size, MOST_AT_ONCE))
            with self._has_results:
                batch.is_done, self._size = True, size
                self._has_results.notify()

    def _take(self, size: int) -> _Batch[Item, Result] | None:
        """Take up to `size` of the items that have been read, and leave other threads their share."""
        with self._has_items:
            while not self._waiting:
                if self._has_ended or self._is_stopped:
                    return None
                self._has_items.wait()
            if self._is_stopped:
                return None
            n = min(size, -(-len(self._waiting) // self._threads))
            batch = _Batch[Item, Result]([self._waiting.popleft() for _ in range(n)])
            self._batches.append(batch)
            return batch

    def next_batch(self) -> _Batch[Item, Result] | None:
        """The next batch when it is done, or None after the last one. Raises the exception that reading raised."""
        with self._has_results:
            while not (self._batches and self._batches[0].is_done):
                if self._has_ended and not self._batches and not self._waiting:
                    if self._error is not None:
                        raise self._error
                    return None
                self._has_results.wait()
            batch = self._batches.popleft()
            self._n_ahead -= len(batch.items)
            if 2 * self._n_ahead <= self._most_ahead:
                self._has_room.notify()
            return batch

    def stop(self) -> None:
        """Let all threads end after the items in progress."""
        with self._has_items:
            self._is_stopped = True
            self._has_items.notify_all()
            self._has_room.notify_all()
