"""Long pieces of work in parallel: in processes forked from this one, or in threads if forking is not safe.

A forked process has everything that is in memory, including the decoder and its mapped model, and shares it until one
of the processes writes to it. Unlike threads, processes do not wait for each other's Python code.
"""

import os
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Event
from typing import Any, TypeVar

from phrasebeam.base.errors import SmtError
from phrasebeam.base.memory_bound import keep_share
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.process.children import begin_forked, start_forked
from phrasebeam.process.fatal_errors import NO_PAGE
from phrasebeam.system.forks import can_fork, fork_context
from phrasebeam.system.signals import LOST_PAGE

Result = TypeVar("Result")
Advance = Callable[[int], None]  # reports a number of further steps as done; raises InterruptedError to stop the work
Work = Callable[[int, Advance], Result]  # works on the piece of that number

SECONDS_TO_STOP = 30
SECONDS_TO_END = 0.1  # until the system knows how a killed process ended


def run_side_by_side(work: Work[Result], pieces: Sequence[int], workers: int, advance: Advance) -> list[Result]:
    """The results of the work on each piece, by at most `workers` workers at a time, which must not share memory.

    Results must be picklable. An exception that a piece raises is raised here, and the other pieces are stopped.
    """
    if workers > 1 and len(pieces) > 1 and can_fork():
        return _in_processes(work, pieces, workers, advance)
    stopping = Event()

    def advance_unless_stopped(n: int) -> None:
        if stopping.is_set():
            raise InterruptedError("another piece failed, or the program was interrupted")
        advance(n)

    def work_on(piece: int) -> Result:
        try:
            return work(piece, advance_unless_stopped)
        except BaseException:
            stopping.set()  # now: the thread may begin another piece before the error arrives below
            raise

    try:
        return list(map_ordered(work_on, pieces, workers))
    finally:
        stopping.set()


def _in_processes(work: Work[Result], pieces: Sequence[int], workers: int, advance: Advance) -> list[Result]:
    context = fork_context()
    taken, stopping, results = context.Value("q", 0), context.Event(), dict[int, Result]()
    processes, pipes, n_processes = [], list[Connection](), min(workers, len(pieces))
    for _ in range(n_processes):
        receiver, sender = context.Pipe(duplex=False)
        shared = taken, stopping, sender, os.getpid(), n_processes + 1
        process = context.Process(target=_serve, args=(work, pieces, *shared), daemon=True)
        start_forked(process)
        sender.close()
        processes.append(process)
        pipes.append(receiver)
    try:
        while pipes:
            ready = wait(pipes)
            for pipe in [pipe for pipe in pipes if pipe in ready]:
                kind, value = _received(pipe)
                if kind == "steps":
                    advance(value)
                elif kind == "result":
                    results[value[0]] = value[1]
                elif kind == "error":
                    raise value
                else:
                    pipes.remove(pipe)
        if len(results) < len(pieces):
            n_left = len(pieces) - len(results)
            raise killed(processes, f"{n_left} pieces are left, start again; if memory ran out, lower workers")
        return [results[piece] for piece in pieces]
    finally:
        stopping.set()
        for process in processes:
            process.join(SECONDS_TO_STOP)
            process.terminate()


def killed(workers: Sequence[BaseProcess], advice: str) -> SmtError:
    """The error to raise if one of these forked processes was killed, or lost a page of a mapped file cut short."""
    for worker in workers:
        worker.join(SECONDS_TO_END)
    has_lost_page = LOST_PAGE is not None and any(worker.exitcode == -LOST_PAGE for worker in workers)
    return SmtError(NO_PAGE if has_lost_page else f"a worker was killed; {advice}")


def become_worker(parent: int, sharers: int) -> None:
    """Let this forked process end with `parent` or by SIGTERM from it, and use an equal part of its memory bound."""
    keep_share(sharers)
    begin_forked(parent)


def _received(pipe: Connection) -> tuple[str, Any]:
    try:
        message: tuple[str, Any] = pipe.recv()
    except EOFError:
        return "end", None
    return message


def _serve(
    work: Work[Any], pieces: Sequence[int], taken: Any, stopping: Any, sender: Connection, parent: int, sharers: int
) -> None:
    """Work on one piece after another until none is left, in a forked process with 1 / `sharers` of the memory."""

    def advance(n: int) -> None:
        if stopping.is_set():
            raise InterruptedError("stopped")
        sender.send(("steps", n))

    try:
        become_worker(parent, sharers)
        while (i := _next(taken)) < len(pieces):
            sender.send(("result", (pieces[i], work(pieces[i], advance))))
    except InterruptedError:
        os._exit(1)
    except BaseException as error:
        sender.send(("error", error))
    sender.close()
    os._exit(0)  # without the exit handlers, which are the parent's


def _next(taken: Any) -> int:
    with taken.get_lock():
        number = int(taken.value)
        taken.value += 1
    return number
