"""Sparse feature vectors as the rows of a matrix in compressed (CSR) form."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class SparseRows(NamedTuple):
    """K sparse vectors; the keys of each ascend and are distinct."""

    first: np.ndarray  # int64[K + 1], vector i is first[i]:first[i + 1]
    keys: np.ndarray  # uint64[Z]
    values: np.ndarray  # float32[Z]

    def vectors(self) -> list[dict[int, float]]:
        """The vectors as dicts from key to value."""
        keys, values, ends = self.keys.tolist(), self.values.tolist(), self.first.tolist()
        return [dict(zip(keys[a:b], values[a:b])) for a, b in pairwise(ends)]

    def take(self, rows: np.ndarray) -> "SparseRows":
        """The vectors `rows` (int64[R])."""
        sizes = np.diff(self.first)[rows]
        first = _ends(sizes)
        columns = np.arange(first[-1]) - np.repeat(first[:-1] - self.first[rows], sizes)
        return SparseRows(first, self.keys[columns], self.values[columns])


def no_features(n: int) -> SparseRows:
    """`n` empty vectors."""
    return SparseRows(np.zeros(n + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.float32))


def rows_of(vectors: Sequence[Mapping[int, float]]) -> SparseRows:
    """SparseRows of vectors given as dicts from key to value."""
    keys = np.array([key for vector in vectors for key in vector], np.uint64)
    values = np.array([value for vector in vectors for value in vector.values()], np.float32)
    return summed(_ends([len(vector) for vector in vectors]), keys, values)


def summed(first: np.ndarray, keys: np.ndarray, values: np.ndarray) -> SparseRows:
    """SparseRows of vectors first[i]:first[i + 1] (int64[K + 1]) of `keys` (uint64[Z]) and `values` (float32[Z]).

    Keys may be in any order; the values of a key that a vector has more than once are added up.
    """
    n = first.size - 1
    row = np.repeat(np.arange(n), np.diff(first))
    order = np.lexsort((keys, row))
    row, keys, values = row[order], keys[order], values[order]
    begins = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (keys[1:] != keys[:-1]))[: row.size])
    if begins.size < row.size:
        values = np.add.reduceat(values.astype(np.float64), begins).astype(np.float32)
        row, keys = row[begins], keys[begins]
    return SparseRows(np.searchsorted(row, np.arange(n + 1)), keys, values)


def joined(parts: Sequence[SparseRows]) -> SparseRows:
    """The vectors of all `parts`, concatenated."""
    sizes = np.concatenate([np.diff(part.first) for part in parts])
    keys, values = (np.concatenate(arrays) for arrays in zip(*((part.keys, part.values) for part in parts)))
    return SparseRows(_ends(sizes), keys, values)


def _ends(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(sizes, dtype=np.int64)).astype(np.int64)
