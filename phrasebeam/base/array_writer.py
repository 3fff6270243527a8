"""Writing an .npy file whose number of rows is not known in advance."""

from pathlib import Path

import numpy as np

HEADER_SIZE = 128  # bytes


class ArrayWriter:
    """An .npy file to which rows of `row_shape` are appended; `close` writes the header into space left for it."""

    def __init__(self, path: Path, dtype: type, row_shape: tuple[int, ...] = ()):
        self.dtype, self.row_shape, self.n_rows = np.dtype(dtype), row_shape, 0
        self.file = open(path, "wb")
        self.file.write(bytes(HEADER_SIZE))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape], converted to dtype) at the end. Raises ValueError for another shape."""
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
    """The header of an .npy file that holds an array of `dtype` and `shape`: always HEADER_SIZE bytes."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape}).encode("ascii")
    magic = np.lib.format.magic(1, 0)
    text_size = HEADER_SIZE - len(magic) - 2
    return magic + text_size.to_bytes(2, "little") + text.ljust(text_size - 1) + b"\n"
