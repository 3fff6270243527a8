"""The memory that processes use, as Linux reports it; other systems report the peak of this process, or nothing."""

import mmap
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from phrasebeam.system.descriptors import read_at
from phrasebeam.system.limits import peak_of_process

STATM, STATM_SIZE = "/proc/self/statm", 200  # bytes, enough for its seven numbers
UNIT = 1024  # bytes; unit of the sizes in /proc/PID/status and smaps_rollup


class ResidentMemory(NamedTuple):
    """The resident memory of a process."""

    all: int  # bytes
    mapped: int  # bytes of `all` that are pages of files


def resident_memory() -> ResidentMemory | None:
    """The resident memory of this process; None if the system does not say, or not at this moment."""
    try:
        _, pages, mapped = read_at(_statm(os.getpid()), STATM_SIZE, 0).split()[:3]
    except OSError:
        return None
    return ResidentMemory(int(pages) * mmap.PAGESIZE, int(mapped) * mmap.PAGESIZE)


@cache
def _statm(pid: int) -> int:
    """A descriptor that stays open, since later none may be available; a forked process has its own."""
    return os.open(STATM, os.O_RDONLY)


def peak_memory() -> int:
    """The largest resident memory of this process so far, in bytes; 0 if the system does not say."""
    return _field(Path("/proc/self/status"), "VmHWM") or peak_of_process()


def proportional_memory(pid: int | str) -> int:
    """Resident bytes of a process, each page divided by the number of processes that share it; 0 if it is gone."""
    return _field(Path(f"/proc/{pid}/smaps_rollup"), "Pss")


def descendants(pid: int | str = "self") -> Iterator[int]:
    """The processes that `pid` started, those that they started, and so on; none if the system cannot say."""
    try:
        children = [(task / "children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return
    for child in chain.from_iterable(children):
        yield int(child)
        yield from descendants(child)


def command_of(pid: int) -> list[str]:
    """The command that a process runs, as a list of words; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def release_pages(mapping: mmap.mmap) -> None:
    """Release the pages of a mapped file, if the system can do so; they are read again when they are needed.

    Changes of a private mapping are lost.
    """
    if sys.platform != "win32" and hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def _field(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name}:\s*(\d+) kB", path.read_text(), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return 0
    return int(found[1]) * UNIT if found else 0
