"""A function mapped over a stream by forked processes: results in order, in bounded memory.

For work that is mostly Python's, during which threads wait for each other. A forked process has all that the function
refers to, the decoder and its mapped model too, and shares it until it writes.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from phrasebeam.base.ordered_map import results_of
from phrasebeam.base.side_by_side import SECONDS_TO_STOP, become_worker, killed
from phrasebeam.process.children import start_forked
from phrasebeam.system.forks import fork_context

Item = TypeVar("Item")
Result = TypeVar("Result")
AFTER_KILL = "start again; if memory ran out, use fewer --threads"
AHEAD = 8  # batches for each process that may be done before the one whose turn it is


def map_by_processes(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int, at_once: int
) -> Generator[Result]:
    """Yield function(item) for every item, in order; items are read in this thread, `at_once` for each message.

    Items and results must be such as can be pickled. What the function or reading raises is raised here, after the
    results of all items before it. Raises SmtError if a process was killed.
    """
    forked = _ForkedProcesses(function, processes)
    try:
        yield from forked.results(iter(items), at_once)
    finally:
        forked.stop()


class _ForkedProcesses(Generic[Item, Result]):
    """Processes that each have one batch of items at a time, so that neither side waits with a full pipe."""

    def __init__(self, function: Callable[[Item], Result], n_processes: int):
        context = fork_context()
        self._idle, self._busy = list[Connection](), list[Connection]()
        self._processes: list[BaseProcess] = []
        for _ in range(n_processes):
            ours, theirs = context.Pipe()
            arguments = (function, theirs, os.getpid(), n_processes + 1)
            process = context.Process(target=_serve, args=arguments, daemon=True)
            start_forked(process)
            theirs.close()
            self._processes.append(process)
            self._idle.append(ours)

    def results(self, items: Iterator[Item], at_once: int) -> Iterator[Result]:
        done = dict[int, tuple[list[Result], BaseException | None]]()
        n_sent = n_given = 0
        is_at_end = False
        while True:
            while self._idle and not is_at_end and n_sent < n_given + AHEAD * len(self._processes):
                batch, error = _read(items, at_once)
                is_at_end = len(batch) < at_once
                if batch:
                    self._send(n_sent, batch)
                    n_sent += 1
                if error is not None:
                    done[n_sent] = [], error
            while n_given in done:
                given, error = done.pop(n_given)
                yield from given
                if error is not None:
                    raise error
                n_given += 1
            if self._busy:
                done |= self._received()
            elif is_at_end:
                return

    def stop(self) -> None:
        """End the processes; those that are at work do not finish it."""
        for pipe in self._idle + self._busy:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(SECONDS_TO_STOP)

    def _send(self, number: int, batch: list[Item]) -> None:
        pipe = self._idle.pop()
        self._busy.append(pipe)
        try:
            pipe.send((number, batch))
        except (BrokenPipeError, ConnectionResetError):
            raise killed(self._processes, AFTER_KILL) from None

    def _received(self) -> dict[int, tuple[list[Result], BaseException | None]]:
        """Results that have come meanwhile, by the number of their batch."""
        done = {}
        ready = wait(self._busy)
        for pipe in [pipe for pipe in self._busy if pipe in ready]:
            try:
                number, results, error = pipe.recv()
            except (EOFError, ConnectionResetError):
                raise killed(self._processes, AFTER_KILL) from None
            done[number] = results, error
            self._busy.remove(pipe)
            self._idle.append(pipe)
        return done


def _read(items: Iterator[Item], n: int) -> tuple[list[Item], BaseException | None]:
    """The next `n` items or fewer, and the error of reading one more."""
    batch = list[Item]()
    try:
        batch.extend(islice(items, n))
    except Exception as error:
        return batch, error
    return batch, None


def _serve(function: Callable[[Any], Any], pipe: Connection, parent: int, sharers: int) -> None:
    """Work on one batch after the other, in a forked process, one of `sharers` of the memory, until it is ended."""
    become_worker(parent, sharers)
    while True:
        number, batch = pipe.recv()
        results, error = list[Any](), None
        try:
            results.extend(results_of(function, batch))
        except BaseException as raised:
            error = raised
        pipe.send((number, results, error))
