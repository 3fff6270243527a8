"""Gold lattices on disk, read by memory map: they are found once and scored in every iteration.

data     the arrays of one lattice after the other, each padded to 8 bytes
index.npy  int64[N, 4 + arrays]: number of the sentence, first byte of its lattice in data, sizes of its arrays,
           merges_ends, and the CRC-32 of its bytes
store.yaml how many sentence pairs were reachable, and how many were not; the CRC-32 of index.npy
"""

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import array_fields
from phrasebeam.base.config import Count, Section, load_config, save_config
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file
from phrasebeam.base.mapped_pages import map_file
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.process.system_errors import named_in_errors

ARRAYS = array_fields(GoldLattice)
ALIGNMENT = 8


class StoredLattices(Section):
    """The content of store.yaml."""

    counts: dict[str, Count]  # number of sentence pairs, by status of forced decoding
    index_crc32: int = Field(ge=0, lt=2**32)


class LatticeWriter:
    """Writes lattices one by one, within a `with` block; the store is valid only after `finish`."""

    def __init__(self, directory: Path):
        """Begin a store in `directory`; an unfinished store there is overwritten."""
        self.directory, self._offset = directory, 0
        self._rows: list[list[int]] = []
        directory.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "LatticeWriter":
        self._file = open(self.directory / "data", "wb")
        return self

    def add(self, number: int, lattice: GoldLattice) -> None:
        """Append the lattice of the sentence `number` (line of the training data, from 0)."""
        arrays = [np.ascontiguousarray(getattr(lattice, name), field.dtype) for name, field in ARRAYS.items()]
        data = b"".join(_padded(array.tobytes()) for array in arrays)
        sizes = (array.size for array in arrays)
        self._rows.append([number, self._offset, *sizes, int(lattice.merges_ends), zlib.crc32(data)])
        with named_in_errors(self.directory / "data"):
            self._offset += self._file.write(data)

    def finish(self, counts: Mapping[str, int]) -> None:
        """Write the index after all lattices were added; `counts`: sentence pairs by status."""
        with named_in_errors(self.directory / "data"):
            self._file.close()
        index = io.BytesIO()
        np.save(index, np.array(self._rows, np.int64).reshape(-1, 4 + len(ARRAYS)))
        stored = StoredLattices(counts=dict(counts), index_crc32=zlib.crc32(index.getvalue()))
        save_config(stored, self.directory / "store.yaml")
        with atomic_file(self.directory / "index.npy") as file:  # written last: if it exists, the store is complete
            file.write(index.getvalue())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with named_in_errors(self.directory / "data"):
            self._file.close()


class LatticeStore:
    """Reads the lattices of a finished store."""

    def __init__(self, directory: Path):
        """Open the store in `directory`, which must be finished (see is_there). Raises SmtError if it is damaged."""
        self.directory, stored = directory, load_config(directory / "store.yaml", StoredLattices)
        index = (directory / "index.npy").read_bytes()
        if zlib.crc32(index) != stored.index_crc32:
            raise self._damaged("index.npy")
        self._index = np.load(io.BytesIO(index))
        self.numbers: Sequence[int] = self._index[:, 0].tolist()  # lines of the sentences that have lattices, from 0
        size = (directory / "data").stat().st_size
        self._data = map_file(directory / "data", np.uint8) if size else np.zeros(0, np.uint8)
        self.counts = stored.counts

    @staticmethod
    def is_there(directory: Path) -> bool:
        """Whether `directory` has a finished store."""
        return (directory / "index.npy").exists()

    def lattice(self, index: int) -> GoldLattice:
        """The lattice of the sentence numbers[index]. Raises FormatError if it is damaged."""
        _, begin, *sizes, merges_ends, crc32 = self._index[index].tolist()
        n_bytes = [size * field.dtype.itemsize for size, field in zip(sizes, ARRAYS.values(), strict=True)]
        data = self._data[begin : begin + sum(n + -n % ALIGNMENT for n in n_bytes)]
        if zlib.crc32(data.data) != crc32:
            raise self._damaged("data")
        arrays, place = dict[str, np.ndarray](), 0
        for n, (name, field) in zip(n_bytes, ARRAYS.items()):
            arrays[name] = np.frombuffer(data[place : place + n], field.dtype)
            place += n + -n % ALIGNMENT
        return GoldLattice(**arrays, merges_ends=bool(merges_ends))

    def _damaged(self, name: str) -> FormatError:
        message = f"not as it was written; delete {self.directory}, and it is made again"
        return FormatError(self.directory / name, message)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
