"""The resident memory of this process, and the release of pages that are mapped from files.

Pages of a mapped file that were read count as resident until the system reclaims them, which it does only when memory
is short. To keep to a memory limit, we release them: they stay in the system's cache and return when read again.
"""

import mmap
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

STATM = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes


class ResidentMemory(NamedTuple):
    """The resident memory of a process."""

    all: int  # bytes
    mapped: int  # bytes of it that are pages of files


def resident_memory() -> ResidentMemory | None:
    """The resident memory of this process; None where the system has no /proc/self/statm."""
    try:
        _, pages, mapped = STATM.read_text().split()[:3]
    except FileNotFoundError:
        return None
    return ResidentMemory(int(pages) * PAGE, int(mapped) * PAGE)


def release_pages(*arrays: np.ndarray) -> None:
    """Release the pages of `arrays` that are mapped from files; the contents of the arrays do not change.

    An array that was mapped copy-on-write must not have been written to: its changes would be lost.
    """
    for array in arrays:
        mapping = _mapping_of(array)
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)


def release_pages_above(n_bytes: int, *arrays: np.ndarray) -> None:
    """Release the pages of `arrays` if over `n_bytes` are resident and a quarter of that is mapped, or if unknown."""
    memory = resident_memory()
    if memory is None or (memory.all > n_bytes and memory.mapped > n_bytes // 4):
        release_pages(*arrays)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    owner: object = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    return owner
