"""An .npy file that grows until its number of rows is known."""

from pathlib import Path

import numpy as np

HEADER_SIZE = 128


class ArrayWriter:
    """An .npy file of rows of one shape; the header is written last, into room left for it."""

    def __init__(self, path: Path, dtype: type, row_shape: tuple[int, ...] = ()):
        self.dtype, self.row_shape, self.n_rows = np.dtype(dtype), row_shape, 0
        self.file = open(path, "wb")
        self.file.write(bytes(HEADER_SIZE))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape]) after those already there."""
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != self.row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.row_shape}")
        self.file.write(rows.data)
        self.n_rows += len(rows)

    def close(self) -> None:
        """Write the header and close the file."""
        self.file.seek(0)
        self.file.write(npy_header(self.dtype, (self.n_rows, *self.row_shape)))
        self.file.close()


def npy_header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The first HEADER_SIZE bytes of an .npy file, whatever the shape."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape}).encode("ascii")
    magic = np.lib.format.magic(1, 0)
    room = HEADER_SIZE - len(magic) - 2
    return magic + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n"
