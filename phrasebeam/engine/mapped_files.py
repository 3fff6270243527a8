"""Arrays mapped from files, sent to other processes as the identity of the file and the position in it.

A fingerprint identifies a file, so that a worker never maps another file of the same name. If a worker does not see the
file, its bytes are shipped to it once, and kept by fingerprint.
"""

import hashlib
import math
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.base.mapped_pages import let_release
from phrasebeam.process.places import cache_home
from phrasebeam.system.descriptors import user_number

SAMPLES, SAMPLE_BYTES = 64, 1 << 14  # for fingerprints: evenly spaced, so that any file takes the same time
DIGEST_DIGITS = 32


class FileIdentity(NamedTuple):
    """The identity of a file at the time when its arrays were sent."""

    path: str
    size: int  # bytes
    fingerprint: str  # digest of its size and of samples of its content


class MappedArray(NamedTuple):
    """The position of an array in a file."""

    file: FileIdentity
    offset: int  # bytes
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes, none of them negative


class MissingFile(Exception):
    """A worker does not see the file; its bytes must be shipped."""

    def __init__(self, file: FileIdentity):
        super().__init__(file)
        self.file = file


def mapped_array(array: np.ndarray) -> MappedArray | None:
    """The position of `array` in a file; None if it is not mapped from a file, or the file no longer exists."""
    owner: object = array
    while isinstance(owner, np.ndarray) and not isinstance(owner.base, np.ndarray):
        if isinstance(owner, np.memmap):
            break
        return None
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    if not isinstance(owner, np.memmap) or owner.filename is None or array.dtype.hasobject or min(array.strides) < 0:
        return None
    while isinstance(owner.base, np.memmap):
        owner = owner.base
    identity = _identity(str(owner.filename))
    if identity is None:
        return None
    address = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return MappedArray(identity, owner.offset + address, array.dtype.str, array.shape, array.strides)


def map_again(place: MappedArray) -> np.ndarray:
    """The array at `place`, mapped copy-on-write. Raises MissingFile if this machine does not see its file."""
    path = _seen(place.file)
    n_bytes = sum((n - 1) * step for n, step in zip(place.shape, place.strides)) + np.dtype(place.dtype).itemsize
    if not math.prod(place.shape):
        return np.empty(place.shape, place.dtype)
    mapped = np.asarray(np.memmap(path, np.uint8, "c", place.offset, (n_bytes,)))
    array: np.ndarray = np.ndarray(place.shape, place.dtype, mapped, strides=place.strides)
    return let_release(array)


def keep_shipped(file: FileIdentity, parts: list[np.ndarray]) -> None:
    """Keep the bytes of a file that this machine does not see: `parts` (uint8[...]), one after the other."""
    path = _shipped_path(file)
    if path.exists():  # another worker of this machine has written it
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as written:
        for part in parts:
            written.write(part.data)
    _seen.cache_clear()


@cache
def _seen(file: FileIdentity) -> Path:
    for path in (Path(file.path), _shipped_path(file)):
        if _identity(str(path)) == file._replace(path=str(path)):
            return path
    raise MissingFile(file)


def _shipped_path(file: FileIdentity) -> Path:
    own = Path(tempfile.gettempdir()) / f"phrasebeam-{user_number()}"  # for users without a writable home directory
    return (cache_home() or own) / "shipped" / file.fingerprint


def _identity(path: str) -> FileIdentity | None:
    """The present identity of the file; None if it cannot be read."""
    try:
        found = Path(path).stat()
        return FileIdentity(path, found.st_size, _fingerprint(path, found.st_size, found.st_mtime_ns))
    except OSError:
        return None


@cache
def _fingerprint(path: str, size: int, changed: int) -> str:
    """A digest of the size and of samples; `changed`: its modification time, so that a changed file is read again."""
    digest = hashlib.sha256(str(size).encode())
    step = max(SAMPLE_BYTES, size // SAMPLES)
    with open(path, "rb") as file:
        for begin in range(0, size, step):
            file.seek(begin)
            digest.update(file.read(SAMPLE_BYTES))
        file.seek(max(size - SAMPLE_BYTES, 0))
        digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()[:DIGEST_DIGITS]
