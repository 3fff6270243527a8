"""The release of pages that are mapped from files.

Pages of a mapped file that were read count as resident until the system reclaims them, which it does only when memory
is short. To keep to a bound, we release them: they stay in the system's cache and return when read again.
"""

import mmap
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.system.memory_use import release_pages

_releasable: dict[int, "weakref.ref[mmap.mmap]"] = {}  # by id; an entry leaves with its mapping


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
    """The bytes of all files that `release_all` would release, as far as they are mapped."""
    mappings = [reference() for reference in list(_releasable.values())]
    return sum(len(mapping) for mapping in mappings if mapping is not None and not mapping.closed)


def release_all() -> None:
    """Release the pages of all arrays that were given to `let_release`; their contents do not change."""
    for reference in list(_releasable.values()):
        mapping = reference()
        if mapping is not None:
            release_pages(mapping)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    owner: object = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner
