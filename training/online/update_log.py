"""A log of the derivations of all updates, in order; feature_names.py computes the names of features from it.

A record is int64: CRC-32 of what follows, line of the training data, phrases of the better derivation, those of the
worse, and then pair, begin and end of each. Pairs are those of the model's table; negative: the copy of a word that is
no phrase.
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
        """Go on behind the first `size` bytes of the file; what follows was not yet of any checkpoint.

        Raises FormatError if it has fewer.
        """
        path.touch()
        if path.stat().st_size < size:
            raise _damaged(path)
        self._file = open(path, "r+b")
        self._file.truncate(size)
        self._file.seek(size)
        self.path, self.size = path, size

    def add(self, record: Record) -> None:
        """Append a record; it is in the file after `flush`."""
        head = [record.number, record.better.pair.size, record.worse.pair.size]
        rows = [np.column_stack(derivation).ravel() for derivation in (record.better, record.worse)]
        data = np.concatenate([head, *rows]).astype(np.int64).tobytes()
        with named_in_errors(self.path):
            self.size += self._file.write(np.int64(zlib.crc32(data)).tobytes() + data)

    def flush(self) -> None:
        """Write all `size` bytes to the file."""
        with named_in_errors(self.path):
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with named_in_errors(self.path):
            self._file.close()


def latest_first(path: Path) -> Iterator[Record]:
    """All records, the last one first. Raises FormatError if one is damaged."""
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
