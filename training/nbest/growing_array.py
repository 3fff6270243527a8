"""An .npy file to which rows are appended over many runs of a program, and which survives being killed."""

import os
from pathlib import Path

import numpy as np

from phrasebeam.base.array_writer import HEADER_SIZE, npy_header
from phrasebeam.base.resident_memory import let_release


class GrowingArray:
    """Rows of one shape; those after the last commit are forgotten when the file is opened again."""

    def __init__(self, path: Path, dtype: type, row_shape: tuple[int, ...] = (), n_rows: int = 0):
        """Open the file at `path` with its first `n_rows` rows; with none, a new file."""
        self.path, self.dtype, self.row_shape, self.n_rows = path, np.dtype(dtype), row_shape, n_rows
        self.file = open(path, "r+b" if n_rows else "wb")
        self.file.truncate(HEADER_SIZE + n_rows * self.row_bytes)
        self._write_header()

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.dtype.itemsize * int(np.prod(self.row_shape, dtype=np.int64))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape]) after those already there."""
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != self.row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.row_shape}")
        self.file.write(rows.tobytes())
        self.n_rows += len(rows)

    def commit(self) -> None:
        """Bring all rows to the disk, and say in the header how many they are."""
        self._write_header()
        os.fsync(self.file.fileno())

    def _write_header(self) -> None:
        self.file.seek(0)
        self.file.write(npy_header(self.dtype, (self.n_rows, *self.row_shape)))
        self.file.seek(0, os.SEEK_END)
        self.file.flush()

    def map(self) -> np.ndarray:
        """The rows up to the last commit, mapped into memory."""
        return let_release(np.load(self.path, mmap_mode="c"))

    def close(self) -> None:
        """Close the file."""
        self.file.close()
