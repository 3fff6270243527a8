"""Reads n-best lists of other decoders into a store.

A name that is on every line, with the same number of values, is a dense feature. All others are sparse features, which
have one value; the key of a sparse feature is a hash of its name.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.decoder.sparse.sparse_weights import SparseRows, summed
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_lines import NbestLines
from phrasebeam.training.nbest.nbest_reader import NbestReader
from phrasebeam.training.nbest.nbest_store import Hypotheses, NbestStore

ROUNDING = 1e-6  # relative rounding error of features, which are float32
UNKNOWN = -1  # in place of a number of values, or of the number of a name


class Layout(NamedTuple):
    """The dense and sparse features of an n-best list."""

    dense: dict[str, int]  # number of values, by name; in the order of the first line
    sparse: dict[int, str]  # name, by key

    @property
    def names(self) -> list[str]:
        """The name of each dense value; the name of a feature with several values is repeated."""
        return [name for name, size in self.dense.items() for _ in range(size)]


def key_of(name: str) -> int:
    """The key (64 bits, unsigned) of a sparse feature."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8"), digest_size=8).digest(), "little")


def find_layout(path: Path) -> Layout:
    """Find the features of a list, which is read to its end. Raises FormatError."""
    reader, n_lines = NbestReader(path), 0
    sizes, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for lines in reader:
        n_values, n_new = np.diff(lines.value_first), len(reader.names) - sizes.size
        sizes, counts = np.append(sizes, np.full(n_new, UNKNOWN)), np.append(counts, np.zeros(n_new, np.int64))
        first = sizes.copy()
        first[lines.name[::-1]] = n_values[::-1]  # backwards, so that the first occurrence of a name is written last
        sizes = np.where(sizes == UNKNOWN, first, sizes)
        for i in np.flatnonzero(n_values != sizes[lines.name])[:1].tolist():
            number = n_lines + int(np.searchsorted(lines.feature_first, i, "right"))
            name = reader.names.words[lines.name[i]]
            problem = f"the feature {excerpt(name)} has {n_values[i]} values, before {sizes[lines.name[i]]}"
            raise FormatError(path, f"{problem}; expected the same number everywhere", number)
        counts += np.bincount(lines.name, minlength=counts.size)
        n_lines += lines.sentence.size
    if n_lines == 0:
        raise FormatError(path, "no lines; expected number ||| text ||| features ||| score")
    sized = dict(zip(reader.names.words, sizes.tolist()))
    dense = {name: size for (name, size), count in zip(sized.items(), counts.tolist()) if count == n_lines}
    sparse = [name for name in sized if name not in dense]
    for name in sparse:
        if sized[name] != 1:
            raise FormatError(
                path, f"the feature {excerpt(name)} has {sized[name]} values, but is missing on some lines"
            )
    return Layout(dense, {key_of(name): name for name in sparse})


def _dense_features(lines: NbestLines, names: Sequence[str], layout: Layout, path: Path) -> np.ndarray:
    """The dense features in the order of `layout` (float32[L, D]). Raises FormatError if one is missing."""
    columns, ids = list[np.ndarray](), {name: i for i, name in enumerate(names)}
    for name, size in layout.dense.items():
        places = np.flatnonzero(lines.name == ids.get(name, UNKNOWN))
        first = lines.value_first[places]
        if places.size != lines.sentence.size or np.any(lines.value_first[places + 1] - first != size):
            raise FormatError(
                path, f"a line without {size} values of {excerpt(name)}; the file has changed, give it again"
            )
        columns.append(lines.value[first[:, None] + np.arange(size)])
    return np.concatenate([np.zeros((lines.sentence.size, 0)), *columns], axis=1).astype(np.float32)


def _sparse_features(lines: NbestLines, keys: np.ndarray) -> SparseRows:
    """The sparse features of the lines; `keys` (uint64[N]): key of each name, 0 for dense features."""
    places = np.flatnonzero(keys[lines.name])
    values = lines.value[lines.value_first[places]].astype(np.float32)
    return summed(np.searchsorted(places, lines.feature_first), keys[lines.name[places]], values)


def store_nbest(path: Path, layout: Layout, metric: Metric, store: NbestStore) -> np.ndarray:
    """Add a list to a store, and commit; return an estimate of the weights behind its scores (float64[D]).

    The estimate is a least-squares fit of the scores by the dense features, after subtraction of the mean over each
    sentence, so that parts that all hypotheses of a sentence share, such as unknown words, do not matter. A weight
    whose effect on scores is smaller than rounding errors is set to 0. Raises FormatError.
    """
    reader, n_sentences, squares = NbestReader(path), 0, 0.0
    products, correlations = np.zeros((store.n_dense, store.n_dense)), np.zeros(store.n_dense)
    keys = np.zeros(0, np.uint64)
    for lines in reader:
        new = [0 if name in layout.dense else key_of(name) for name in reader.names.words[keys.size :]]
        keys = np.append(keys, np.array(new, np.uint64))
        n_sentences += len(lines.lists())
        if n_sentences > metric.n_sentences:
            raise FormatError(path, f"more sentences than the references, which have {metric.n_sentences}")
        dense = _dense_features(lines, reader.names.words, layout, path)
        _store(lines, dense, _sparse_features(lines, keys), metric, store)
        for begin, end in lines.lists():
            rows = dense[begin:end]
            centered = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
            scores = lines.score[begin:end] - lines.score[begin:end].mean()
            products += centered.T @ centered
            correlations += centered.T @ scores
            squares += scores @ scores
    if n_sentences != metric.n_sentences:
        raise FormatError(
            path, f"{n_sentences} sentences, the references have {metric.n_sentences}; give the same number"
        )
    store.commit()
    weights: np.ndarray = np.linalg.lstsq(products, correlations, rcond=1e-9)[0]
    is_rounding = np.abs(weights) * np.sqrt(np.diag(products)) <= ROUNDING * np.sqrt(squares)
    return np.where(is_rounding, 0.0, weights)


def _store(lines: NbestLines, dense: np.ndarray, sparse: SparseRows, metric: Metric, store: NbestStore) -> None:
    """Add the list of each sentence."""
    texts = lines.hypotheses()
    statistics = metric.statistics(lines.sentence, texts)
    for begin, end in lines.lists():
        rows, sentence = slice(begin, end), lines.sentence[begin:end].astype(np.int32)
        own = sparse.take(np.arange(begin, end))
        store.add(Hypotheses(sentence, texts[rows], dense[rows], own, statistics[rows]))
