"""Arrays too large for memory, as rows in scratch files that are written and read piece by piece."""

from pathlib import Path

import numpy as np

from phrasebeam.base.mapped_pages import map_file
from phrasebeam.process.system_errors import named_in_errors


class RowFile:
    """A file of `n_rows` rows of one width and dtype, in the order in which they were appended."""

    def __init__(self, path: Path, dtype: type, width: int | None = None):
        """`width`: columns of a row; None for rows that are single numbers."""
        self.path, self.dtype, self.n_rows = path, np.dtype(dtype), 0
        self.row_shape = () if width is None else (width,)
        self.path.touch()

    def append(self, rows: np.ndarray) -> None:
        """Add `rows`, dtype[R] or dtype[R, width], at the end."""
        with named_in_errors(self.path), open(self.path, "ab") as file:
            file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.n_rows += len(rows)

    def read(self, begin: int, end: int) -> np.ndarray:
        """Rows begin:end, dtype[end - begin] or dtype[end - begin, width], in memory."""
        width = int(np.prod(self.row_shape))
        with named_in_errors(self.path):
            flat = np.fromfile(self.path, self.dtype, (end - begin) * width, offset=begin * width * self.dtype.itemsize)
        return flat.reshape(end - begin, *self.row_shape)

    def map(self) -> np.ndarray:
        """All rows, memory-mapped copy-on-write; the file may be unlinked while they are in use."""
        if not self.n_rows:
            return np.zeros((0, *self.row_shape), self.dtype)
        return map_file(self.path, self.dtype, shape=(self.n_rows, *self.row_shape))


class BucketFiles:
    """Rows of one width and dtype, one file per bucket; files are open only while they are written or read."""

    def __init__(self, stem: Path, dtype: type, width: int | None = None):
        self.stem, self.dtype, self.width = stem, dtype, width
        self.files: dict[int, RowFile] = {}

    def append(self, bucket: int, rows: np.ndarray) -> None:
        """Add `rows`, dtype[R] or dtype[R, width], at the end of `bucket`."""
        if bucket not in self.files:
            path = self.stem.with_name(f"{self.stem.name}.{bucket}")
            self.files[bucket] = RowFile(path, self.dtype, self.width)
        self.files[bucket].append(rows)

    def scatter(self, buckets: np.ndarray, rows: np.ndarray) -> None:
        """Add row i of `rows` to bucket buckets[i] (int[R]); rows of one bucket keep their order."""
        order = np.argsort(buckets, kind="stable")
        present, begins = np.unique(buckets[order], return_index=True)
        for bucket, begin, end in zip(present, begins, [*begins[1:], len(order)]):
            self.append(int(bucket), rows[order[begin:end]])

    def take(self, bucket: int) -> np.ndarray:
        """All rows of `bucket`, dtype[R] or dtype[R, width], in memory; its file is removed."""
        file = self.files.pop(bucket, None)
        if file is None:
            return np.zeros((0,) if self.width is None else (0, self.width), self.dtype)
        rows = file.read(0, file.n_rows)
        file.path.unlink()
        return rows
