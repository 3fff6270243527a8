"""Arrays too large for memory, kept as rows in scratch files: appended in pieces, read back in pieces."""

from pathlib import Path

import numpy as np


class RowFile:
    """Rows of one width and dtype in one file, in the order in which they were appended."""

    def __init__(self, path: Path, dtype: type, width: int | None = None):
        """`width`: columns of a row; None for a flat array."""
        self.path, self.dtype, self.rows = path, np.dtype(dtype), 0
        self.tail = () if width is None else (width,)
        self.path.touch()

    def append(self, rows: np.ndarray) -> None:
        """Add `rows`, dtype[R] or dtype[R, width], at the end."""
        with open(self.path, "ab") as file:
            np.ascontiguousarray(rows, self.dtype).tofile(file)
        self.rows += len(rows)

    def read(self, begin: int, end: int) -> np.ndarray:
        """Rows begin:end, in memory."""
        width = int(np.prod(self.tail))
        flat = np.fromfile(self.path, self.dtype, (end - begin) * width, offset=begin * width * self.dtype.itemsize)
        return flat.reshape(end - begin, *self.tail)

    def map(self) -> np.ndarray:
        """All rows, memory-mapped copy-on-write; they outlive the file's name, which may be removed at once."""
        if not self.rows:
            return np.zeros((0, *self.tail), self.dtype)
        return np.asarray(np.memmap(self.path, self.dtype, "c", shape=(self.rows, *self.tail)))


class BucketFiles:
    """Rows of one width and dtype in one file a bucket; files are open only while they are written."""

    def __init__(self, stem: Path, dtype: type, width: int | None = None):
        self.stem, self.dtype, self.width = stem, dtype, width
        self.files: dict[int, RowFile] = {}

    def append(self, bucket: int, rows: np.ndarray) -> None:
        """Add `rows` to the end of `bucket`."""
        if bucket not in self.files:
            path = self.stem.with_name(f"{self.stem.name}.{bucket}")
            self.files[bucket] = RowFile(path, self.dtype, self.width)
        self.files[bucket].append(rows)

    def scatter(self, buckets: np.ndarray, rows: np.ndarray) -> None:
        """Add row i to bucket buckets[i] (int[R]); rows of one bucket keep their order."""
        order = np.argsort(buckets, kind="stable")
        present, begins = np.unique(buckets[order], return_index=True)
        for bucket, begin, end in zip(present, begins, [*begins[1:], len(order)]):
            self.append(int(bucket), rows[order[begin:end]])

    def take(self, bucket: int) -> np.ndarray:
        """All rows of `bucket`, in memory; its file is removed."""
        file = self.files.pop(bucket, None)
        if file is None:
            return np.zeros((0,) if self.width is None else (0, self.width), self.dtype)
        rows = file.read(0, file.rows)
        file.path.unlink()
        return rows
