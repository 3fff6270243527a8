"""Digests of the files of a model directory, stored in model.yaml, which show when one of the files has changed.

A digest is the size of a file and its CRC-32, computed at some gigabytes a second. It detects damage, not malice.
`check-model` verifies all digests. Opening a model verifies the sizes of all files, and the digests of files that are
small or read as a whole anyway.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.decoder.tables.model_files import ARRAY_FILES, EDITABLE, MODEL, OTHER_FILES, TRAIN_AGAIN

BLOCK = 1 << 20  # bytes that are read at once
SMALL = 1 << 20  # bytes
READ_WHOLE = ("source.vocab", "target.vocab")  # files that are read as a whole when a model is opened


def _check_name(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or name != str(path) or "\0" in name:
        raise ValueError("should be the path of a file within the model directory")
    return name


FileName = Annotated[str, AfterValidator(_check_name)]
Digest = Annotated[str, Field(pattern=r"^\d{1,18} bytes, crc32 [0-9a-f]{8}$")]


def digest_of(data: bytes) -> str:
    """The digest of the content of a file."""
    return _digest(len(data), zlib.crc32(data))


def file_digest(path: Path) -> str:
    """The digest of a file, which is read in blocks. Raises OSError if it cannot be read."""
    block, size, crc = memoryview(bytearray(BLOCK)), 0, 0
    with open(path, "rb", buffering=0) as file:
        while n := file.readinto(block):
            size, crc = size + n, zlib.crc32(block[:n], crc)
    return _digest(size, crc)


def _digest(n_bytes: int, crc: int) -> str:
    return f"{n_bytes} bytes, crc32 {crc:08x}"


def size_in(digest: str) -> int:
    """The size of a file in bytes, from its digest."""
    return int(digest.partition(" ")[0])


def model_files(directory: Path) -> Iterator[str]:
    """The names of all files of the model in `directory` except model.yaml; other files there are ignored."""
    arrays = [f"{folder}/{file.name}.npy" for folder, files in ARRAY_FILES.items() for file in files]
    for pattern in (*arrays, *OTHER_FILES):
        for path in sorted(directory.glob(pattern)):
            if pattern != MODEL and path.is_file():
                yield path.relative_to(directory).as_posix()


def model_paths(directory: Path) -> list[Path]:
    """The paths of all files of the model in `directory`."""
    return [directory / name for name in (MODEL, *model_files(directory))]


def new_digests(directory: Path, named: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """The digest of each file of the model in `directory` by its name: the `known` digest, or that of its content.

    `named`: files whose names model.yaml chooses, such as language models.
    """
    names = dict.fromkeys((*model_files(directory), *named))
    return {name: known.get(name) or file_digest(directory / name) for name in names}


def verify_on_opening(directory: Path, digests: Mapping[str, str]) -> None:
    """Check the sizes of all files, and the digests of small files; files that users may edit are skipped.

    Raises ModelError or FormatError for the first file that is missing or has changed.
    """
    for name, digest in digests.items():
        if name not in EDITABLE:
            is_read = size_in(digest) <= SMALL or name in READ_WHOLE
            if error := _difference(directory, name, digest, is_read):
                raise error


def changed_files(directory: Path, digests: Mapping[str, str]) -> Iterator[str]:
    """A line for each file that is missing, has changed, or has no digest."""
    for name, digest in digests.items():
        if error := _difference(directory, name, digest, True):
            yield str(error)
    for name in model_files(directory):
        if name not in digests:
            found = "added since the model was made" if name in EDITABLE else f"not among the files that {MODEL} names"
            yield f"{directory / name}: {found}; {copy_or_accept(directory, name)}"


def _difference(directory: Path, name: str, digest: str, is_read: bool) -> ModelError | FormatError | None:
    """An error that reports how a file differs from its digest: by its size, or, if it is read, by its content."""
    path = directory / name
    if not path.exists():
        return ModelError(f"{path}: missing; {TRAIN_AGAIN}")
    if not path.is_file():
        return FormatError(path, f"not a regular file; {TRAIN_AGAIN}")
    n_bytes = path.stat().st_size
    found = file_digest(path) if is_read and n_bytes == size_in(digest) else f"{n_bytes} bytes"
    if not digest.startswith(found):
        return FormatError(path, f"{found}, expected {digest}, as {MODEL} says; {copy_or_accept(directory, name)}")
    return None


def copy_or_accept(directory: Path, name: str = "") -> str:
    """Advice to a user about the changed file `name` of a model; changes of editable files can be accepted."""
    accept = f"phrasebeam check-model --accept {directory}"
    if name in EDITABLE:
        return f"if this was your edit, run {accept}; else {TRAIN_AGAIN}"
    return f"{TRAIN_AGAIN}; or, if you changed it on purpose, {accept}"
