"""A function mapped over a stream by forked processes: results in order, in bounded memory.

It is for work done mostly in Python, for which threads would wait for each other. A forked process has everything that
the function refers to, including the decoder and its mapped model, and shares that memory until one of them writes.
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
AHEAD = 8  # batches per process that may be sent before the results of the earliest one are returned


def map_by_processes(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int, at_once: int
) -> Generator[Result]:
    """Yield function(item) for every item, in order. Items are read in this thread, and sent in batches of `at_once`.

    Items and results must be picklable. An exception raised by the function or by reading is raised here, after the
    results of all items before it. Raises SmtError if a process was killed.
    """
    forked = _ForkedProcesses(function, processes)
    try:
        yield from forked.results(iter(items), at_once)
    finally:
        forked.stop()


class _ForkedProcesses(Generic[Item, Result]):
    """Processes that have at most one batch of items each, so that no one waits because a pipe is full."""

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
        """End the processes; those that are working do not finish their batch."""
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
        """Wait for results; return them and the error after them, by the number of their batch."""
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
    """The next `n` items, or fewer at the end; and the error that reading a further item raised, or None."""
    batch = list[Item]()
    try:
        batch.extend(islice(items, n))
    except Exception as error:
        return batch, error
    return batch, None


def _serve(function: Callable[[Any], Any], pipe: Connection, parent: int, sharers: int) -> None:
    """Work on one batch after another until ended, in a forked process with 1 / `sharers` of the memory."""
    become_worker(parent, sharers)
    while True:
        number, batch = pipe.recv()
        results, error = list[Any](), None
        try:
            results.extend(results_of(function, batch))
        except BaseException as raised:
            error = raised
        pipe.send((number, results, error))
