"""An .npy file to which rows are appended over many runs of a program, and which is still valid after a kill."""

import os
import zlib
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.array_file import HEADER_SIZE, npy_header
from phrasebeam.base.errors import FormatError
from phrasebeam.base.mapped_pages import let_release
from phrasebeam.process.system_errors import named_in_errors

BLOCK = 1 << 20  # bytes that are read at once


class Committed(NamedTuple):
    """The committed rows of an array."""

    n_rows: Annotated[int, Field(ge=0)]
    crc32: int  # of the bytes of these rows


NO_ROWS = Committed(0, 0)


class GrowingArray:
    """Rows of one shape in a file. Rows after the last commit are deleted when the file is opened again."""

    def __init__(self, path: Path, dtype: type, row_shape: tuple[int, ...] = (), committed: Committed = NO_ROWS):
        """Open the file at `path` with its `committed` rows; without any, begin a new file.

        Raises FormatError if the file does not have these rows.
        """
        self.path, self.dtype, self.row_shape, (self.n_rows, self._crc32) = path, np.dtype(dtype), row_shape, committed
        self.file = open(path, "r+b" if self.n_rows else "wb")
        self._verify()
        self.file.truncate(HEADER_SIZE + self.n_rows * self.row_bytes)
        self._write_header()

    def _verify(self) -> None:
        self.file.seek(HEADER_SIZE)
        left, crc32 = self.n_rows * self.row_bytes, 0
        while left and (block := self.file.read(min(left, BLOCK))):
            left, crc32 = left - len(block), zlib.crc32(block, crc32)
        if left or crc32 != self._crc32:
            raise FormatError(self.path, "not as it was written; remove the directory and start again")

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * int(np.prod(self.row_shape, dtype=np.int64))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape]) after those already there."""
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != self.row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.row_shape}")
        data = rows.tobytes()
        with named_in_errors(self.path):
            self.file.write(data)
        self.n_rows, self._crc32 = self.n_rows + len(rows), zlib.crc32(data, self._crc32)

    def commit(self) -> Committed:
        """Flush all rows to the disk, with their number in the header. Returns `committed` for the next opening."""
        self._write_header()
        with named_in_errors(self.path):
            os.fsync(self.file.fileno())
        return Committed(self.n_rows, self._crc32)

    def _write_header(self) -> None:
        with named_in_errors(self.path):
            self.file.seek(0)
            self.file.write(npy_header(self.dtype, (self.n_rows, *self.row_shape)))
            self.file.seek(0, os.SEEK_END)
            self.file.flush()

    def map(self) -> np.ndarray:
        """The rows up to the last commit, mapped into memory."""
        with named_in_errors(self.path):
            return let_release(np.load(self.path, mmap_mode="c"))

    def close(self) -> None:
        with named_in_errors(self.path):
            self.file.close()
