"""A log of the derivations of all updates, in order; feature_names.py computes the names of features from it.

A record is int64: line of the training data, phrases of the better derivation, those of the worse, and then pair, begin
and end of each. Pairs are those of the model's table; negative: the copy of a word that is no phrase.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.process.named_errors import named_in_errors

HEAD = 3


class Record(NamedTuple):
    """The two derivations of an update."""

    number: int  # line of the training data, from 0
    better: Derivation
    worse: Derivation


class UpdateLog:
    """Appends records to a file."""

    def __init__(self, path: Path, size: int):
        """Go on behind the first `size` bytes of the file; what follows was not yet of any checkpoint."""
        path.touch()
        self._file = open(path, "r+b")
        self._file.truncate(size)
        self._file.seek(size)
        self.path, self.size = path, size

    def add(self, record: Record) -> None:
        """Append a record; it is in the file after `flush`."""
        head = [record.number, record.better.pair.size, record.worse.pair.size]
        rows = [np.column_stack(derivation).ravel() for derivation in (record.better, record.worse)]
        with named_in_errors(self.path):
            self.size += self._file.write(np.concatenate([head, *rows]).astype(np.int64).tobytes())

    def flush(self) -> None:
        """Write all `size` bytes to the file."""
        with named_in_errors(self.path):
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with named_in_errors(self.path):
            self._file.close()


def latest_first(path: Path) -> Iterator[Record]:
    """All records, the last one first."""
    data: np.ndarray = np.memmap(path, np.int64, "r") if path.stat().st_size else np.zeros(0, np.int64)
    starts, position = [], 0
    while position < data.size:
        starts.append(position)
        position += HEAD + 3 * int(data[position + 1] + data[position + 2])
    for start in reversed(starts):
        number, n_better, n_worse = data[start : start + HEAD].tolist()
        rows = np.array(data[start + HEAD : start + HEAD + 3 * (n_better + n_worse)]).reshape(-1, 3)
        yield Record(number, _derivation(rows[:n_better]), _derivation(rows[n_better:]))


def _derivation(rows: np.ndarray) -> Derivation:
    return Derivation(rows[:, 0].copy(), rows[:, 1].astype(np.int32), rows[:, 2].astype(np.int32))
