"""The release of pages that are mapped from files.

Pages of a mapped file that were read count as resident until the system reclaims them, and it does so only when memory
is short. To keep to a bound, we release them: they stay in the system's cache, and can be read again from there.
"""

import mmap
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.system.memory_use import release_pages

_releasable: dict[int, "weakref.ref[mmap.mmap]"] = {}  # by id; an entry disappears with its mapping


def let_release(array: np.ndarray) -> np.ndarray:
    """Allow `release_all` to release the pages of `array`, a view of a mapped file, from now on; return `array`.

    An array that is mapped copy-on-write must not be written to: its changes would be lost.
    """
    mapping = _mapping_of(array)
    if mapping is not None and id(mapping) not in _releasable:
        key = id(mapping)
        _releasable[key] = weakref.ref(mapping, lambda _: _releasable.pop(key, None))
    return array


def map_file(
    path: Path, dtype: Any, mode: Any = "c", offset: int = 0, shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """The array in a file from byte `offset` on, mapped as by np.memmap and registered by `let_release`."""
    with named_in_errors(path):
        return let_release(np.asarray(np.memmap(path, dtype, mode, offset, shape)))


def mapped_bytes() -> int:
    """The total mapped size in bytes of the files whose pages `release_all` would release."""
    mappings = [reference() for reference in list(_releasable.values())]
    return sum(len(mapping) for mapping in mappings if mapping is not None and not mapping.closed)


def release_all() -> None:
    """Release the pages of all arrays that `let_release` has registered; their contents do not change."""
    for reference in list(_releasable.values()):
        mapping = reference()
        if mapping is not None:
            release_pages(mapping)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    owner: object = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner
