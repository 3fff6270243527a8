"""Rows of integers dealt out to buckets, in memory or, if there are several, in one file each."""

from pathlib import Path
from types import TracebackType

import numpy as np


class Buckets:
    """Rows keep the order in which they were added. Used as a context: files vanish at its end."""

    def __init__(self, n: int, n_columns: int, dtype: type, directory: Path):
        """`n`: a power of two; `directory`: exists, and is used only if n > 1."""
        self.n, self.n_columns, self.dtype = n, n_columns, dtype
        self.paths = [directory / f"{i}.rows" for i in range(n)] if n > 1 else []
        self.kept: list[np.ndarray] = []

    def __enter__(self) -> "Buckets":
        for path in self.paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for path in self.paths:
            path.unlink(missing_ok=True)

    def add(self, rows: np.ndarray, hashes: np.ndarray) -> None:
        """Deal out `rows` (dtype[K, n_columns]) by the high bits of `hashes` (uint64[K])."""
        if self.n == 1:
            self.kept.append(rows)
            return
        bucket = (hashes >> np.uint64(65 - self.n.bit_length())).astype(np.int64)
        rows = rows[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=self.n))
        for path, begin, end in zip(self.paths, ends - np.diff(ends, prepend=0), ends):
            if begin < end:
                with open(path, "ab") as file:
                    rows[begin:end].tofile(file)

    def take(self, i: int) -> np.ndarray:
        """All rows (dtype[K, n_columns]) of bucket `i`, which is empty from then on."""
        if self.n > 1:
            if not self.paths[i].exists():
                return np.zeros((0, self.n_columns), self.dtype)
            piece: np.ndarray = np.fromfile(self.paths[i], self.dtype).reshape(-1, self.n_columns)
            self.paths[i].unlink()
            return piece
        kept, self.kept = self.kept, []
        return np.concatenate(kept) if kept else np.zeros((0, self.n_columns), self.dtype)
