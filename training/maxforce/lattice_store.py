"""Gold lattices on disk, read by memory map: they are found once and scored in every iteration.

data     the arrays of one lattice after the other, each padded to 8 bytes
index.npy  int64[N, 2 + arrays]: number of the sentence, where its lattice begins, and the sizes of its arrays
counts.json  how many sentence pairs were reachable, and how many were not
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from phrasebeam.base.array_struct import array_fields
from phrasebeam.base.files import atomic_file
from phrasebeam.base.resident_memory import let_release
from phrasebeam.decoder.forced.gold_lattice import GoldLattice

ARRAYS = array_fields(GoldLattice)
ALIGNMENT = 8


class LatticeWriter:
    """Writes lattices one by one, within a `with` block; the store counts only after `finish`."""

    def __init__(self, directory: Path):
        """A writer to `directory`; a store there that was not finished is overwritten."""
        self.directory, self._offset = directory, 0
        self._rows: list[list[int]] = []
        directory.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "LatticeWriter":
        self._file = open(self.directory / "data", "wb")
        return self

    def add(self, number: int, lattice: GoldLattice) -> None:
        """Append the lattice of the sentence `number` (line of the training data, from 0)."""
        arrays = [np.ascontiguousarray(getattr(lattice, name), field.dtype) for name, field in ARRAYS.items()]
        self._rows.append([number, self._offset, *(a.size for a in arrays), int(lattice.merges_ends)])
        for array in arrays:
            data = array.tobytes()
            self._offset += self._file.write(data + bytes(-len(data) % ALIGNMENT))

    def finish(self, counts: Mapping[str, int]) -> None:
        """Write the index after all lattices were added; `counts`: sentence pairs by status."""
        self._file.close()
        with atomic_file(self.directory / "counts.json") as file:
            file.write(json.dumps(dict(counts)).encode())
        with atomic_file(self.directory / "index.npy") as file:  # the last one: whoever sees it sees all
            np.save(file, np.array(self._rows, np.int64).reshape(-1, 3 + len(ARRAYS)))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class LatticeStore:
    """Reads the lattices of a finished store."""

    def __init__(self, directory: Path):
        """Open the store in `directory`, which must be finished (see is_there)."""
        self._index = np.load(directory / "index.npy")
        self.numbers: Sequence[int] = self._index[:, 0].tolist()  # of sentences that have lattices
        size = (directory / "data").stat().st_size
        self._data = let_release(np.memmap(directory / "data", np.uint8, "c")) if size else np.zeros(0, np.uint8)
        self.counts: dict[str, int] = json.loads((directory / "counts.json").read_text(encoding="utf-8"))

    @staticmethod
    def is_there(directory: Path) -> bool:
        """Whether a store in `directory` was finished."""
        return (directory / "index.npy").exists()

    def lattice(self, index: int) -> GoldLattice:
        """The lattice of the sentence numbers[index]."""
        _, begin, *sizes, merges_ends = self._index[index].tolist()
        arrays: dict[str, np.ndarray] = {}
        for size, (name, field) in zip(sizes, ARRAYS.items(), strict=True):
            n_bytes = size * field.dtype.itemsize
            arrays[name] = np.frombuffer(self._data[begin : begin + n_bytes], field.dtype)
            begin += n_bytes + -n_bytes % ALIGNMENT
        return GoldLattice(**arrays, merges_ends=bool(merges_ends))
