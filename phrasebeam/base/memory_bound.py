"""A bound on the memory of a command and its processes: kept as far as possible, and reported if it was exceeded.

A thread releases pages of mapped files; it looks the more often, the closer the process is to the bound. If processors
are busy, it may look too late: a gigabyte becomes resident in a tenth of a second. Code that reads many pages therefore
calls `room_for_pages` before each step. Code that fills memory of its own asks `memory_left` how much it may take, and
puts the rest on disk.
"""

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from phrasebeam.base.config import WITHOUT_EFFECT, Bytes, Section, format_size, parse_config
from phrasebeam.base.mapped_pages import mapped_bytes, release_all
from phrasebeam.process.children import CHILD
from phrasebeam.process.hints import hint
from phrasebeam.system.forks import at_fork
from phrasebeam.system.memory_use import command_of, descendants, peak_memory, proportional_memory, resident_memory

DEFAULT_MEMORY = 2 << 30  # bytes
LEAST_MEMORY = 384 << 20  # bytes; interpreter, libraries and kernels take some 200 MB of them
RESERVE = 96 << 20  # bytes that are kept free below the bound, at least an eighth of it: memory grows between two looks
BYTES_PER_SECOND = 8 << 30  # about as fast as pages of a file in the cache become resident
SECONDS_BETWEEN_LOOKS = 0.002, 0.25  # minimum and maximum
SECONDS_BETWEEN_PROCESSES = 0.25  # between looks at other processes, which take milliseconds


def _large_enough(n_bytes: int) -> int:
    if n_bytes < LEAST_MEMORY:
        raise ValueError(f"should be at least {format_size(LEAST_MEMORY)}, which the program itself needs")
    return n_bytes


class MemorySettings(Section):
    """The bound on memory, which has no effect on results."""

    memory: Annotated[Bytes, AfterValidator(_large_enough), WITHOUT_EFFECT] = Field(
        DEFAULT_MEMORY,
        description=(
            "limit of the memory of this process and its child processes, such as 2G; data beyond it go to disk"
        ),
    )


def memory_option(memory: str | int | None) -> int:
    """The value in bytes of the option --memory of a command; None: the default. Raises ConfigError."""
    if memory is not None and resident_memory() is None:
        hint("--memory needs Linux, which tells what a process holds; here the peak is reported, at most")
    return parse_config({"memory": memory} if memory is not None else {}, MemorySettings, "options").memory


def memory_left(n_bytes: int) -> int:
    """The bytes of new arrays with which this process stays below `n_bytes`: at least a sixteenth of `n_bytes`."""
    held = resident_memory()
    return max(n_bytes // 16, _threshold(n_bytes) - (held.all if held else n_bytes // 2))


def _threshold(n_bytes: int) -> int:
    """The resident bytes above which pages are released."""
    return n_bytes - max(RESERVE, n_bytes // 8)


class MemoryBound:
    """Keeps this process below `n_bytes` by releasing mapped pages, and records its peak and that of its processes."""

    def __init__(self, n_bytes: int):
        self.n_bytes, self.peak, self.peak_of_processes = n_bytes, 0, 0
        self.names: set[str] = set()  # of the other processes
        self._peak_before = peak_memory()
        self._last_mapped = 0  # mapped bytes that were resident after the last release, such as those of libraries
        self._looks_at_processes = 0.0  # seconds until the next look at other processes
        self.start()

    def start(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def report(self) -> str:
        """A message about a peak above the bound, with advice; empty if the bound was kept."""
        own = peak_memory()
        peak = max(self.peak, own if own > self._peak_before else 0)
        if peak <= self.n_bytes:
            return ""
        others = f", {_megabytes(self.peak_of_processes)} of it in {', '.join(sorted(self.names))}"
        advice = "; give more, fewer --threads, or less data" if self.names else "; give more, or less data"
        return (
            f"held {_megabytes(peak)} of memory at its peak{others if self.names else ''}, "
            f"more than --memory {format_size(self.n_bytes)}{advice}"
        )

    def _watch(self) -> None:
        seconds = 0.0
        while not self._stopped.wait(seconds):
            self._looks_at_processes -= seconds
            seconds = self._look()
            if self._looks_at_processes <= 0:
                self._looks_at_processes = SECONDS_BETWEEN_PROCESSES
                self._look_at_processes()

    def _look(self) -> float:
        """Release mapped pages if the bound is near and they are many; return the seconds until the next look."""
        least, most = SECONDS_BETWEEN_LOOKS
        return min(most, max(least, self.free() / BYTES_PER_SECOND))

    def free(self) -> float:
        """Bytes until the bound is near. If it is near, and there are many mapped pages, they are released first."""
        memory = resident_memory()
        if memory is None:
            return math.inf
        self.peak = max(self.peak, memory.all)
        if memory.all > _threshold(self.n_bytes) and memory.mapped - self._last_mapped > self.n_bytes // 16:
            release_all()
            memory = resident_memory() or memory
            self._last_mapped = memory.mapped
        return _threshold(self.n_bytes) - memory.all

    def _look_at_processes(self) -> None:
        sizes = {} if _leaves_out else {pid: proportional_memory(pid) for pid in descendants()}
        if not sizes:
            return
        total = sum(sizes.values())
        together = proportional_memory("self") + total
        if together > self.peak:
            self.peak, self.peak_of_processes = together, total
            self.names = {_name_of(pid) for pid in sizes} - {""}


def keep_memory(n_bytes: int) -> None:
    """Keep this process and its children to `n_bytes` until `end_memory_bound`; commands call this before the work."""
    global _bound
    end_memory_bound()
    _bound = MemoryBound(n_bytes)


def room_for_pages() -> float:
    """Bytes of mapped files that may be read before the bound is near; infinite without a bound, or if all files fit.

    If the bound is near, and there are many mapped pages, they are released first.
    """
    free = math.inf if _bound is None else _bound.free()
    return math.inf if free > mapped_bytes() else free


def pieces_of_rows(n_rows: int, at_once: int) -> Iterator[int]:
    """The first row of each piece of `at_once` rows, to read a whole mapped array; makes room for the pages first."""
    for first in range(0, n_rows, at_once):
        room_for_pages()
        yield first


def end_memory_bound() -> str:
    """End the bound of `keep_memory`; return a message about a peak above the bound, empty if it was kept."""
    global _bound
    ended, _bound = _bound, None
    if ended is None:
        return ""
    ended.stop()
    return ended.report()


def leave_out_processes(is_left_out: bool) -> None:
    """Let the bound ignore other processes or not; those of a cluster are ignored, since they have their own bounds."""
    global _leaves_out
    _leaves_out = is_left_out


def keep_share(parts: int) -> None:
    """Keep this forked process to an equal part of the bound of its parent, if the parent has one."""
    if _bound is not None:
        keep_memory(_bound.n_bytes // parts)


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.0f}M"


def _name_of(pid: int) -> str:
    """The module that a process of ours runs, or the command of another process; "" if it is gone."""
    command = command_of(pid)
    after_m = command[command.index("-m") + 1 :] if "-m" in command else []
    modules = after_m[1:] if after_m[:1] == [CHILD] else after_m
    return modules[0].rpartition(".")[2] if modules else Path(*command[:1]).name


_bound: MemoryBound | None = None
_leaves_out = False


def _before_fork() -> None:
    if _bound is not None:
        _bound.stop()


def _after_fork() -> None:
    if _bound is not None:
        _bound.start()


at_fork(before=_before_fork, after_in_parent=_after_fork)
