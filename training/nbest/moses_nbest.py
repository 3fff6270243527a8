"""N-best lists as Moses and other decoders write them, into a store: number ||| text ||| features ||| score ...

Features are "name= value value ..."; "name: value value ..." in Moses' lists from before 2013, "name=value" in those of
Joshua and cdec. Names with the same number of values on every line are dense features, the
others, which have one value, are sparse; the key of a sparse feature is a hash of its name.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.output.rendering import restore_bars
from phrasebeam.decoder.sparse.sparse_weights import rows_of
from phrasebeam.lm.text.corpus import split
from phrasebeam.training.metrics.metric import Metric
from phrasebeam.training.nbest.nbest_store import LARGEST_VALUE, Hypotheses, NbestStore

NUMBER = re.compile("[0-9]{1,9}")
ROUNDING = 1e-6  # of features, which are float32


class Entry(NamedTuple):
    """One line of an n-best list: a hypothesis with its features by name and its model score."""

    sentence: int
    text: str
    features: dict[str, list[float]]
    score: float


class Layout(NamedTuple):
    """Which dense and sparse features an n-best list has."""

    dense: dict[str, int]  # name, number of values; in the order of the first line
    sparse: dict[int, str]  # names by key

    @property
    def names(self) -> list[str]:
        """The name of each dense value; a feature of several values is there as many times."""
        return [name for name, size in self.dense.items() for _ in range(size)]


class Row(NamedTuple):
    """The features of a line as the store takes them."""

    dense: list[float]  # in the order of Layout.names
    sparse: dict[int, float]  # by key


def key_of(name: str) -> int:
    """The key (64 bits, unsigned) of a sparse feature."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8"), digest_size=8).digest(), "little")


def read_nbest(path: Path) -> Iterator[Entry]:
    """The lines of a list. Raises FormatError, naming the line, also where sentences are not in order."""
    last = 0
    for number, line in enumerate(read_lines(path), 1):
        fields = [field.strip(" \t") for field in line.split("|||")]
        try:
            if len(fields) < 4:
                raise ValueError(f"{len(fields)} fields, expected number ||| text ||| features ||| score")
            if not NUMBER.fullmatch(fields[0]):
                raise ValueError(f"the sentence {excerpt(fields[0])}, expected its number, from 0")
            features, score = _features(fields[2]), read_value("the score", fields[3])
            entry = Entry(int(fields[0]), restore_bars(fields[1]), features, score)
        except ValueError as error:
            raise FormatError(path, str(error), number) from None
        if not last <= entry.sentence <= last + (number > 1):
            expected = "0" if number == 1 else f"{last} or {last + 1}"
            raise FormatError(
                path, f"sentence {entry.sentence}, expected {expected}; lists need every sentence", number
            )
        last = entry.sentence
        yield entry


def _features(field: str) -> dict[str, list[float]]:
    features: dict[str, list[float]] = {}
    values: list[float] | None = None
    for token in split(field):
        name, value = _name_and_value(token)
        if name is not None:
            if name in features:
                raise ValueError(f"the feature {excerpt(name)} is there twice")
            values = features[name] = []
        if values is None:
            raise ValueError(f"the value {excerpt(token)} has no name before it, such as LM0=")
        if value:
            values.append(read_value("a feature", value))
    return features


def _name_and_value(token: str) -> tuple[str | None, str]:
    """The name, or None, and the value, which may be empty, of a token: name=, name:, name=value or value."""
    if token.endswith(("=", ":")):
        return token[:-1], ""
    # As Moses' mert does, at the last one: words that are part of names may have = in them.
    name, _, value = token.rpartition("=")
    return (name, value) if name else (None, token)


def read_value(what: str, text: str) -> float:
    """The number `text` of a feature, score or weight. Raises ValueError where it is none, or too large."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST_VALUE:
        raise ValueError(f"{what} is {excerpt(text)}, expected a number up to {LARGEST_VALUE:g}")
    return value


def find_layout(path: Path) -> Layout:
    """The features of a list, which is read whole. Raises FormatError."""
    sizes: dict[str, int] = {}
    counts: dict[str, int] = {}
    n_lines = 0
    for n_lines, entry in enumerate(read_nbest(path), 1):
        for name, values in entry.features.items():
            if sizes.setdefault(name, len(values)) != len(values):
                problem = f"the feature {excerpt(name)} has {len(values)} values, before {sizes[name]}"
                raise FormatError(path, f"{problem}; expected the same number everywhere", n_lines)
            counts[name] = counts.get(name, 0) + 1
    if n_lines == 0:
        raise FormatError(path, "no lines; expected number ||| text ||| features ||| score")
    dense = {name: size for name, size in sizes.items() if counts[name] == n_lines}
    sparse = [name for name in sizes if name not in dense]
    for name in sparse:
        if sizes[name] != 1:
            raise FormatError(
                path, f"the feature {excerpt(name)} has {sizes[name]} values, but is missing on some lines"
            )
    return Layout(dense, {key_of(name): name for name in sparse})


def features_of(entry: Entry, layout: Layout, path: Path) -> Row:
    """The features of a line in the order of `layout`. Raises FormatError where a dense one is missing."""
    dense: list[float] = []
    for name, size in layout.dense.items():
        values = entry.features.get(name, [])
        if len(values) != size:
            raise FormatError(
                path, f"sentence {entry.sentence}: {len(values)} values of {excerpt(name)}, expected {size}"
            )
        dense += values
    sparse = {key_of(name): values[0] for name, values in entry.features.items() if name not in layout.dense}
    return Row(dense, sparse)


def by_sentence(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The n-best list of each sentence, from consecutive entries."""
    for _, group in groupby(entries, key=lambda entry: entry.sentence):
        yield list(group)


def store_nbest(path: Path, layout: Layout, metric: Metric, store: NbestStore) -> np.ndarray:
    """Add a list to a store, and commit; float64[D], the weights that its scores seem to come from.

    These are the least squares between dense features and scores, both less their means over the sentence: what all
    hypotheses of a sentence share, such as its unknown words, does not matter. A weight by which scores differ less
    than by the rounding of their features is 0. Raises FormatError.
    """
    squares = 0.0
    products, correlations = np.zeros((store.n_dense, store.n_dense)), np.zeros(store.n_dense)
    n_sentences = 0
    for entries in by_sentence(read_nbest(path)):
        n_sentences += 1
        if n_sentences > metric.n_sentences:
            raise FormatError(path, f"more sentences than the references, which have {metric.n_sentences}")
        rows = [features_of(entry, layout, path) for entry in entries]
        sentence, texts = np.full(len(rows), entries[0].sentence), [entry.text for entry in entries]
        dense = np.array([row.dense for row in rows], np.float32).reshape(len(rows), store.n_dense)
        sparse = rows_of([row.sparse for row in rows])
        store.add(Hypotheses(sentence.astype(np.int32), texts, dense, sparse, metric.statistics(sentence, texts)))
        centered = dense.astype(np.float64) - dense.mean(axis=0, dtype=np.float64)
        scores = np.array([entry.score for entry in entries])
        scores -= scores.mean()
        products += centered.T @ centered
        correlations += centered.T @ scores
        squares += scores @ scores
    if n_sentences != metric.n_sentences:
        raise FormatError(path, f"{n_sentences} sentences, the references have {metric.n_sentences}; give as many")
    store.commit()
    weights: np.ndarray = np.linalg.lstsq(products, correlations, rcond=1e-9)[0]
    is_rounding = np.abs(weights) * np.sqrt(np.diag(products)) <= ROUNDING * np.sqrt(squares)
    return np.where(is_rounding, 0.0, weights)
