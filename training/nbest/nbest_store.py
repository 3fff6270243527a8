"""N-best lists on disk, merged over iterations: features and statistics of every hypothesis, without duplicates.

Arrays only grow, and are mapped, so that lists may be larger than memory. A hypothesis is a duplicate if the same
sentence has one with the same text and the same features. Appended hypotheses become permanent with a commit, at the
end of an iteration. A store that is opened again has the hypotheses up to an iteration; later ones are deleted.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Count, Section, load_config
from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.sparse.sparse_weights import SparseRows
from phrasebeam.training.nbest.growing_array import NO_ROWS, Committed, GrowingArray

INDEX = "lists.json"
MOST_RECENT = 1 << 16  # fingerprints that are kept in a set, not in the sorted array
LARGEST_VALUE = 1e30  # of features, scores and weights: fits into float32, and sums of products are finite


class StoreShape(Section):
    """Number of sentences of a store, and of dense features and statistics of each hypothesis."""

    sentences: Count
    dense: Count
    statistics: Count


class StoredRows(Section):
    """The committed rows of each array of a store after an iteration."""

    sentence: Committed = NO_ROWS
    dense: Committed = NO_ROWS
    statistics: Committed = NO_ROWS
    sparse_size: Committed = NO_ROWS
    sparse_column: Committed = NO_ROWS
    sparse_value: Committed = NO_ROWS
    fingerprint: Committed = NO_ROWS
    text: Committed = NO_ROWS
    text_size: Committed = NO_ROWS
    keys: Committed = NO_ROWS


class StoreIndex(Section):
    """The index file of a store."""

    format: Literal["phrasebeam n-best lists 2"] = "phrasebeam n-best lists 2"
    shape: StoreShape
    iterations: list[StoredRows] = Field([])


class Hypotheses(NamedTuple):
    """K hypotheses to add to a store, in the order of their sentences."""

    sentence: np.ndarray  # int32[K]
    texts: Sequence[str]  # K
    dense: np.ndarray  # float32[K, D]
    sparse: SparseRows  # K
    statistics: np.ndarray  # float32[K, S]


class Lists(NamedTuple):
    """H hypotheses of M sentences as kernels see them; feature D + c is sparse feature c."""

    first: np.ndarray  # int64[M + 1], hypotheses of sentence i are row[first[i]:first[i + 1]]
    row: np.ndarray  # int64[H]
    dense: np.ndarray  # float32[H, D]
    sparse_first: np.ndarray  # int64[H + 1]
    sparse_column: np.ndarray  # int32[Z]
    sparse_value: np.ndarray  # float32[Z]
    statistics: np.ndarray  # float32[H, S]


class NbestStore:
    """The lists of M sentences in a directory."""

    def __init__(self, directory: Path, n_sentences: int, n_dense: int, n_statistics: int, n_iterations: int = 0):
        """Open the store in `directory` as it was after `n_iterations`; with 0, begin a new store in its place.

        Raises FormatError or ConfigError if it is damaged, or has lists of another shape.
        """
        self.directory, self.n_sentences = directory, n_sentences
        self._index = StoreIndex(shape=StoreShape(sentences=n_sentences, dense=n_dense, statistics=n_statistics))
        if n_iterations:
            self._index = self._index.model_copy(update={"iterations": self._read_iterations(n_iterations)})
        layout: dict[str, tuple[type, tuple[int, ...]]] = {
            "sentence": (np.int32, ()),
            "dense": (np.float32, (n_dense,)),
            "statistics": (np.float32, (n_statistics,)),
            "sparse_size": (np.int32, ()),
            "sparse_column": (np.int32, ()),
            "sparse_value": (np.float32, ()),
            "fingerprint": (np.uint64, ()),
            "text": (np.uint8, ()),
            "text_size": (np.int32, ()),
            "keys": (np.uint64, ()),
        }
        directory.mkdir(parents=True, exist_ok=True)
        rows = self._index.iterations[-1] if n_iterations else StoredRows()
        self._arrays = {
            name: GrowingArray(directory / f"{name}.npy", dtype, shape, getattr(rows, name))
            for name, (dtype, shape) in layout.items()
        }
        self._stored = np.sort(self._arrays["fingerprint"].map())
        self._recent = set[int]()  # fingerprints that are not in the sorted array yet
        self._columns = {key: column for column, key in enumerate(self._arrays["keys"].map().tolist())}
        self._write_index()

    def _read_iterations(self, n_iterations: int) -> list[StoredRows]:
        path = self.directory / INDEX
        index = load_config(path, StoreIndex)
        if index.shape != self._index.shape or len(index.iterations) < n_iterations:
            message = f"{len(index.iterations)} iterations with {index.shape}, expected {n_iterations}"
            raise FormatError(path, f"{message} with {self._index.shape}; remove the directory and start again")
        return index.iterations[:n_iterations]

    def __len__(self) -> int:
        return self._arrays["sentence"].n_rows

    @property
    def n_dense(self) -> int:
        return self._index.shape.dense

    @property
    def n_features(self) -> int:
        """Number of dense and sparse features, D + C."""
        return self.n_dense + len(self._columns)

    @property
    def keys(self) -> np.ndarray:
        """The key of each column of sparse features (uint64[C])."""
        return np.array(list(self._columns), np.uint64)

    def add(self, hypotheses: Hypotheses) -> int:
        """Append the hypotheses that are new, and return their number. All those of a sentence must be in one call.

        Raises ModelError if a feature is too large, which may happen with a damaged model.
        """
        _check_features(hypotheses)
        fingerprints = _fingerprints(hypotheses)
        _, first = np.unique(fingerprints, return_index=True)
        is_new = np.zeros(fingerprints.size, bool)
        is_new[first] = ~self._has(fingerprints[first])
        rows = np.flatnonzero(is_new)
        texts = [hypotheses.texts[i].encode("utf-8") for i in rows.tolist()]
        sparse = hypotheses.sparse.take(rows)
        keys, key_index = np.unique(sparse.keys, return_inverse=True)
        columns = np.array([self._columns.setdefault(key, len(self._columns)) for key in keys.tolist()], np.int32)
        new_keys = list(self._columns)[self._arrays["keys"].n_rows :]
        values = {
            "sentence": hypotheses.sentence[rows],
            "dense": hypotheses.dense[rows],
            "statistics": hypotheses.statistics[rows],
            "sparse_size": np.diff(sparse.first).astype(np.int32),
            "sparse_column": columns[key_index],
            "sparse_value": sparse.values,
            "fingerprint": fingerprints[rows],
            "text": np.frombuffer(b"".join(texts), np.uint8),
            "text_size": np.array([len(text) for text in texts], np.int32),
            "keys": np.array(new_keys, np.uint64),
        }
        for name, appended in values.items():
            self._arrays[name].append(appended)
        self._recent.update(fingerprints[rows].tolist())
        if len(self._recent) > MOST_RECENT:  # not at each call, since the whole array is sorted
            self._stored = np.sort(np.append(self._stored, np.array(list(self._recent), np.uint64)))
            self._recent.clear()
        return rows.size

    def _has(self, fingerprints: np.ndarray) -> np.ndarray:
        """Whether each of `fingerprints` (uint64[K]) was added before (bool[K])."""
        is_recent = np.array([one in self._recent for one in fingerprints.tolist()], np.bool_)
        places = np.searchsorted(self._stored, fingerprints)
        is_within = places < self._stored.size
        is_recent[is_within] |= self._stored[places[is_within]] == fingerprints[is_within]
        return is_recent

    def commit(self) -> None:
        """End an iteration: all hypotheses added so far become permanent."""
        rows = StoredRows(**{name: array.commit() for name, array in self._arrays.items()})
        self._index = self._index.model_copy(update={"iterations": [*self._index.iterations, rows]})
        self._write_index()

    def lists(self) -> Lists:
        """All committed hypotheses; the hypotheses of a sentence are in the order in which they were added."""
        mapped = {name: array.map() for name, array in self._arrays.items()}
        counts = np.bincount(mapped["sentence"], minlength=self.n_sentences)
        return Lists(
            np.append(0, np.cumsum(counts)).astype(np.int64),
            np.argsort(mapped["sentence"], kind="stable"),
            mapped["dense"],
            np.append(0, np.cumsum(mapped["sparse_size"], dtype=np.int64)),
            mapped["sparse_column"],
            mapped["sparse_value"],
            mapped["statistics"],
        )

    def texts(self) -> Iterator[str]:
        data, sizes = self._arrays["text"].map(), self._arrays["text_size"].map()
        for begin, end in pairwise(np.append(0, np.cumsum(sizes, dtype=np.int64)).tolist()):
            yield data[begin:end].tobytes().decode("utf-8")

    def close(self) -> None:
        for array in self._arrays.values():
            array.close()

    def _write_index(self) -> None:
        with atomic_file(self.directory / INDEX) as file:
            file.write(self._index.model_dump_json(indent=1).encode())


def _check_features(hypotheses: Hypotheses) -> None:
    """Raise ModelError unless all features are numbers up to LARGEST_VALUE."""
    for values in (hypotheses.dense, hypotheses.sparse.values):
        for value in values[~(np.abs(values) <= LARGEST_VALUE)][:1].tolist():
            raise ModelError(
                f"a translation has a feature of {value:g}, expected numbers up to {LARGEST_VALUE:g}; "
                "the model may be damaged: phrasebeam check-model shows where"
            )


def _fingerprints(hypotheses: Hypotheses) -> np.ndarray:
    """A hash of each hypothesis (uint64[K]); different hypotheses have equal ones with probability 2**-64 per pair."""
    dense = np.ascontiguousarray(hypotheses.dense, np.float32)
    digests, (first, keys, values) = [], hypotheses.sparse
    rows = zip(hypotheses.sentence.tolist(), hypotheses.texts, dense, pairwise(first.tolist()))
    for sentence, text, row, (begin, end) in rows:
        digest = hashlib.blake2b(text.encode("utf-8"), digest_size=8, salt=sentence.to_bytes(8, "little"))
        digest.update(b"\n" + row.tobytes())
        if end > begin:
            digest.update(keys[begin:end].tobytes())
            digest.update(values[begin:end].tobytes())
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), np.uint64)
