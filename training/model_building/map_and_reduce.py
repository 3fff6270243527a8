"""A phrase table by map and reduce: extraction by shards of the bitext, scoring by pieces of the source phrases.

Phrase pairs are shuffled through files in the scratch directory, which all workers must see. Each shard writes its
occurrences, divided by piece. Each piece reads the occurrences of all shards in their order, scores them, and writes
its pairs, divided by target phrase, for c(e). So every piece has the same content as in a build by one process, and the
table is the same, byte for byte.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.mapped_pages import let_release
from phrasebeam.base.side_by_side import Advance
from phrasebeam.decoder.extraction.agreement import Agreement
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.training.model_building.extraction import extract

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])  # a NamedTuple of arrays
NO_PAIRS = np.zeros((0, 4), np.int64)
SHARDS_OF_WORKER = 4  # several, so that workers do not wait long for the slowest shard


class Shuffle(NamedTuple):
    """Division of phrase pairs into pieces: `piece_of` computes the piece of each hash."""

    scratch: Path
    n_shards: int
    n_pieces: int
    piece_of: Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class ShardExtraction:
    """Extracts the phrase pairs of a shard of the bitext."""

    bitext: AlignedBitext
    counts: np.ndarray  # int64[N], number of phrase pairs of each sentence pair
    agreement: Agreement
    max_length: int
    kind: int  # orientation model, see KINDS
    chunk: int  # number of phrase pairs that are extracted at a time
    source_hashes: Callable[[AlignedBitext, np.ndarray], np.ndarray]
    shuffle: Shuffle

    def __call__(self, shard: int, advance: Advance) -> None:
        """Write the occurrences of the shard, divided by the pieces of their source phrases."""
        n_shards, n_pairs = self.shuffle.n_shards, self.counts.size
        sentences = n_pairs * shard // n_shards, n_pairs * (shard + 1) // n_shards
        with new_directory(self.shuffle.scratch, f"shard-{shard}") as directory:
            limits = self.max_length, self.kind, self.chunk
            for n, occurrences in extract(self.bitext, self.counts, *limits, sentences, self.agreement):
                pieces = self.shuffle.piece_of(self.source_hashes(self.bitext, occurrences), self.shuffle.n_pieces)
                for piece, rows in divided(pieces, occurrences):
                    append_rows(directory / f"{piece}", rows)
                advance(n)


def occurrences_of(shuffle: Shuffle, piece: int) -> np.ndarray:
    """The occurrences (int32[K, 4]) of a piece, in the order of the corpus."""
    paths = (shuffle.scratch / f"shard-{shard}" / f"{piece}" for shard in range(shuffle.n_shards))
    parts = [np.fromfile(path, np.int32).reshape(-1, 4) for path in paths if path.exists()]
    return np.concatenate([np.zeros((0, 4), np.int32), *parts])


def pairs_of(shuffle: Shuffle, piece: int, first_rows: Sequence[int]) -> np.ndarray:
    """The pairs of a piece of target phrases (int64[P, 4]).

    Columns: row in the whole table, first target token, target length, joint count. first_rows: first row in the whole
    table of each piece of source phrases.
    """
    parts = [NO_PAIRS]
    for source_piece, first in enumerate(first_rows):
        path = shuffle.scratch / f"scored-{source_piece}" / f"target-{piece}"
        if path.exists():
            parts.append(np.fromfile(path, np.int64).reshape(-1, 4) + np.array([first, 0, 0, 0]))
    return np.concatenate(parts)


def divided(pieces: np.ndarray, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each piece that occurs in `pieces` (int64[R]) with its rows, in their order."""
    order = np.argsort(pieces, kind="stable")
    present, begins = np.unique(pieces[order], return_index=True)
    for piece, begin, end in zip(present.tolist(), begins, [*begins[1:], len(order)]):
        yield piece, rows[order[begin:end]]


def append_rows(path: Path, rows: np.ndarray) -> None:
    """Add rows at the end of a file."""
    with open(path, "ab") as file:
        file.write(np.ascontiguousarray(rows).data)


@contextmanager
def new_directory(scratch: Path, name: str) -> Iterator[Path]:
    """Yield a directory that gets its name only when it is complete, however often the work is started.

    Raises ConfigError if this machine does not see the scratch directory.
    """
    if not scratch.is_dir():
        raise ConfigError(f"{scratch}: a worker does not see it; put the output where all machines see it")
    directory = scratch / f"{name}.{uuid4().hex}"
    directory.mkdir()
    yield directory
    try:
        directory.rename(scratch / name)
    except OSError:  # a worker that was believed dead has done the same work
        shutil.rmtree(directory)


def save_tuple(arrays: Mapping[str, np.ndarray], directory: Path) -> None:
    """Write each array to a file of its name."""
    directory.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(directory / f"{name}.npy", array)


def load_array(path: Path) -> np.ndarray:
    """Map an array of a file that save_tuple wrote, copy-on-write; small files are read."""
    array = np.load(path, mmap_mode="c" if path.stat().st_size > 1 << 12 else None)
    return let_release(np.asarray(array))


def on_disk(arrays: Arrays, directory: Path) -> Arrays:
    """Write the arrays to files in `directory`; return them mapped, so that workers are sent only the file names."""
    fields: dict[str, np.ndarray] = arrays._asdict()  # type: ignore[attr-defined]
    save_tuple(fields, directory)
    return type(arrays)(**{name: load_array(directory / f"{name}.npy") for name in fields})
