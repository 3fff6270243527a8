"""Files compressed by gzip or Zstandard: recognised by content when read, by .gz or .zst in the name when written."""

import errno
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".zst")
GZIP_LEVEL = 6
BUFFER = 1 << 17  # bytes


def decompressed(file: io.BufferedReader) -> BinaryIO:
    """`file`, decompressed if it is compressed; reading raises EOFError, zlib.error or BadGzipFile if it is damaged.

    Raises OSError if Zstandard is needed and not installed.
    """
    start = file.peek(4)[:4]
    if start and GZIP_MAGIC.startswith(start[:2]):  # a slow pipe may have given one byte only; no text begins with it
        return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(fileobj=file)))
    if start == ZSTD_MAGIC:
        return cast(BinaryIO, io.BufferedReader(_ZstdReader(file), BUFFER))
    return cast(BinaryIO, file)


def is_compressed(file: BinaryIO) -> bool:
    """Whether the `file` is a decompressing one that `decompressed` returned."""
    return not isinstance(getattr(file, "raw", None), io.FileIO)


@contextmanager
def compressed(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """A file whose content is compressed into `file`, by the suffix of `name`; equal content gives equal bytes.

    For that, no time and no name is written.
    """
    if not name.endswith(SUFFIXES):
        yield file
        return
    compressor: Any
    if name.endswith(".gz"):
        compressor = gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0)
    else:
        zstd = _zstd()
        compressor = zstd.ZstdFile(file, "w", options={zstd.CompressionParameter.checksum_flag: 1})
    with compressor, io.BufferedWriter(compressor, BUFFER) as buffer:
        yield cast(BinaryIO, buffer)


class _ZstdReader(io.RawIOBase):
    """Reads a Zstandard file; if it is damaged, EOFError is raised."""

    def __init__(self, file: BinaryIO):
        zstd = _zstd()
        self._file, self._damage = zstd.ZstdFile(file), zstd.ZstdError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return cast(int, self._file.readinto(buffer))
        except self._damage as error:
            raise EOFError(str(error)) from None


def _zstd() -> Any:
    """Python's module for Zstandard (from 3.14 on) or its backport. Raises OSError if neither is installed."""
    try:
        from compression import zstd
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            message = "Zstandard is not installed; pip install backports.zstd, or use gzip (.gz)"
            raise OSError(errno.ENOTSUP, message) from None
    return zstd
