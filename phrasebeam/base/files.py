"""Files as people hand them over (plain or .gz text in UTF-8), and files that appear whole or not at all."""

import errno
import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from phrasebeam.base.errors import FormatError

GZIP_MAGIC = b"\x1f\x8b"


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a text file without their ends; `.gz` is seen by content. Raises FormatError, naming the line.

    Only "\\n" and "\\r\\n" end a line: other Unicode line separators occur inside sentences.
    """
    number = 0
    try:
        with open_binary(path) as file:
            for line in file:
                number += 1
                yield line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _bad_utf8(path, number, error) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(path, f"damaged gzip data after line {number} ({error}); copy the file again") from None


def read_standard_input() -> Iterator[str]:
    """Lines of standard input without their ends, each as it comes. Raises FormatError, naming the line."""
    # A reader of its own: sys.stdin must not be locked by the thread that waits for a line when the process ends.
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise _bad_utf8("standard input", number, error) from None


def _bad_utf8(path: str | Path, line: int, error: UnicodeDecodeError) -> FormatError:
    """What to say of a line that is not UTF-8."""
    byte, column = error.object[error.start], error.start + 1
    return FormatError(path, f"byte 0x{byte:02x} at column {column} is not UTF-8; convert it (iconv -t UTF-8)", line)


def open_binary(path: str | Path) -> BinaryIO:
    """The file's bytes, decompressed if it is gzip. Raises OSError if it cannot be opened."""
    file = open(path, "rb")
    if file.peek(2)[:2] == GZIP_MAGIC:
        return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(fileobj=file)))
    return cast(BinaryIO, file)


@contextmanager
def atomic_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file for writing that takes the place of `path` when the block ends well, and vanishes otherwise."""
    path = Path(path)
    # A device or a pipe: nothing to replace; nor where /dev/stderr or /dev/fd/3 is a link to an ordinary file.
    if str(path.parent) in ("/dev", "/dev/fd") or (path.exists() and not path.is_file()):
        with open(path, "wb") as file:
            yield cast(BinaryIO, file)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@contextmanager
def atomic_directory(path: str | Path) -> Iterator[Path]:
    """A new directory to fill, which takes the place of `path` when the block ends well, and vanishes otherwise.

    An old directory at `path` stays whole until the new one is complete; a link to one stays a link to it. Raises
    NotADirectoryError where something else is in the way.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield beside
        os.chmod(beside, 0o777 & ~_umask())
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            os.replace(path, old)
            os.replace(beside, path)
            shutil.rmtree(old)
        else:
            os.replace(beside, path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
