"""A log of the derivations of all updates, in order, from which feature_names.py computes the names of features.

A record is a sequence of int64: CRC-32 of the rest, line of the training data, number of phrases of the better
derivation and of the worse one, and then phrase pair, begin and end of each phrase. Pairs are numbered as in the
model's phrase table; a negative number stands for a copied word, which is not in the table.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.process.system_errors import named_in_errors

HEAD = 4


class Record(NamedTuple):
    """The two derivations of an update."""

    number: int  # line of the training data, from 0
    better: Derivation
    worse: Derivation


class UpdateLog:
    """Appends records to a file."""

    def __init__(self, path: Path, size: int):
        """Open the file, and delete everything after the first `size` bytes, which belongs to no checkpoint.

        Raises FormatError if the file has fewer bytes.
        """
        path.touch()
        if path.stat().st_size < size:
            raise _damaged(path)
        self._file = open(path, "r+b")
        self._file.truncate(size)
        self._file.seek(size)
        self.path, self.size = path, size

    def add(self, record: Record) -> None:
        """Append a record; it is sure to be in the file only after `flush`."""
        head = [record.number, record.better.pair.size, record.worse.pair.size]
        rows = [np.column_stack(derivation).ravel() for derivation in (record.better, record.worse)]
        data = np.concatenate([head, *rows]).astype(np.int64).tobytes()
        with named_in_errors(self.path):
            self.size += self._file.write(np.int64(zlib.crc32(data)).tobytes() + data)

    def flush(self) -> None:
        """Write all records to the file, which has `size` bytes then."""
        with named_in_errors(self.path):
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with named_in_errors(self.path):
            self._file.close()


def latest_first(path: Path) -> Iterator[Record]:
    """Yield all records, the last one first. Raises FormatError if one is damaged."""
    n_bytes = path.stat().st_size
    data: np.ndarray = np.memmap(path, np.int64, "r", shape=(n_bytes // 8,)) if n_bytes >= 8 else np.zeros(0, np.int64)
    starts, position = [], 0
    while position < data.size:
        starts.append(position)
        sizes = [int(size) for size in data[position + 2 : position + HEAD]]
        end = position + HEAD + 3 * sum(sizes)
        if min(sizes, default=-1) < 0 or end > data.size or zlib.crc32(data[position + 1 : end].data) != data[position]:
            raise _damaged(path)
        position = end
    for start in reversed(starts):
        _, number, n_better, n_worse = data[start : start + HEAD].tolist()
        rows = np.array(data[start + HEAD : start + HEAD + 3 * (n_better + n_worse)]).reshape(-1, 3)
        yield Record(number, _derivation(rows[:n_better]), _derivation(rows[n_better:]))


def _damaged(path: Path) -> FormatError:
    return FormatError(path, "not as it was written; delete the directory, and the training begins again")


def _derivation(rows: np.ndarray) -> Derivation:
    return Derivation(rows[:, 0].copy(), rows[:, 1].astype(np.int32), rows[:, 2].astype(np.int32))
