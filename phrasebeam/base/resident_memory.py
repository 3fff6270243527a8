"""How much memory this process holds, and how to let go of what can be read from its files again.

Pages of a mapped file that were touched count as resident until the system takes them back, which it does only when
memory is short. Where somebody set a bound, we give them back: the system keeps them, and they return when touched.
"""

import mmap
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

STATM = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Resident(NamedTuple):
    """Bytes of this process that are in memory."""

    all: int
    mapped: int  # of them, pages of files


def resident() -> Resident | None:
    """What this process holds; None where the system does not say."""
    try:
        _, pages, mapped = STATM.read_text().split()[:3]
    except FileNotFoundError:
        return None
    return Resident(int(pages) * PAGE, int(mapped) * PAGE)


def let_go(*arrays: np.ndarray) -> None:
    """Give back the pages of `arrays` as far as they are mapped from files; their contents stay as they are.

    An array that was mapped copy-on-write must not have been written to: that would be undone.
    """
    for array in arrays:
        mapping = _mapping_of(array)
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)


def release_pages_above(n_bytes: int, *arrays: np.ndarray) -> None:
    """`let_go` of `arrays` if this process holds more than `n_bytes`, or might, and mapped files are to blame."""
    held = resident()
    if held is None or (held.all > n_bytes and held.mapped > n_bytes // 4):
        let_go(*arrays)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    owner: object = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    return owner
