"""The memory of processes, as Linux tells it, and the release of pages that are mapped from files.

Pages of a mapped file that were read count as resident until the system reclaims them, which it does only when memory
is short. To keep to a bound, we release them: they stay in the system's cache and return when read again.
"""

import mmap
import os
import re
import weakref
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.process.system_errors import named_in_errors

STATM, STATM_SIZE = "/proc/self/statm", 200  # bytes: seven numbers
PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes
UNIT = 1024  # of the sizes in /proc/PID/status and smaps_rollup

_releasable: dict[int, "weakref.ref[mmap.mmap]"] = {}  # by id; an entry leaves with its mapping


class ResidentMemory(NamedTuple):
    """The resident memory of a process."""

    all: int  # bytes
    mapped: int  # bytes of it that are pages of files


def resident_memory() -> ResidentMemory | None:
    """The resident memory of this process; None if the system does not say, or not now."""
    try:
        _, pages, mapped = os.pread(_statm(os.getpid()), STATM_SIZE, 0).split()[:3]
    except OSError:
        return None
    return ResidentMemory(int(pages) * PAGE, int(mapped) * PAGE)


@cache
def _statm(pid: int) -> int:
    """A descriptor that stays open, since none may be available later; a forked process has its own."""
    return os.open(STATM, os.O_RDONLY)


def peak_memory() -> int:
    """The largest resident memory of this process so far, in bytes; 0 if the system does not say."""
    return _field(Path("/proc/self/status"), "VmHWM")


def proportional_memory(pid: int | str) -> int:
    """Resident bytes of a process, each page divided by the number of processes that share it; 0 if it is gone."""
    return _field(Path(f"/proc/{pid}/smaps_rollup"), "Pss")


def descendants(pid: int | str = "self") -> Iterator[int]:
    """The processes that `pid` started, those that they started, and so on; none if the system does not say now."""
    try:
        children = [(task / "children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return
    for child in chain.from_iterable(children):
        yield int(child)
        yield from descendants(child)


def _field(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name}:\s*(\d+) kB", path.read_text(), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return 0
    return int(found[1]) * UNIT if found else 0


def let_release(array: np.ndarray) -> np.ndarray:
    """The same `array`, a view of a mapped file, whose pages `release_all` may release from now on.

    An array that is mapped copy-on-write must never be written to: its changes would be lost.
    """
    mapping = _mapping_of(array)
    if mapping is not None and id(mapping) not in _releasable:
        key = id(mapping)
        _releasable[key] = weakref.ref(mapping, lambda _: _releasable.pop(key, None))
    return array


def map_file(
    path: Path, dtype: Any, mode: Any = "c", offset: int = 0, shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """The array in a file from byte `offset` on, mapped as np.memmap does, for which `let_release` was called."""
    with named_in_errors(path):
        return let_release(np.asarray(np.memmap(path, dtype, mode, offset, shape)))


def mapped_bytes() -> int:
    """Number of mapped bytes of all files that `release_all` would release."""
    mappings = [reference() for reference in list(_releasable.values())]
    return sum(len(mapping) for mapping in mappings if mapping is not None and not mapping.closed)


def release_all() -> None:
    """Release the pages of all arrays that were given to `let_release`; their contents do not change."""
    for reference in list(_releasable.values()):
        mapping = reference()
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    owner: object = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner
