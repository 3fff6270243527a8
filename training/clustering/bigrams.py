"""Words of a text that follow one another, counted in memory that grows with what is distinct, not with the text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.lm.counting import END_ID, SPECIALS, text_tokens
from phrasebeam.lm.text.vocabulary import Vocabulary

LEFT = 32  # bits to the left of which a pair's first word stands in its key


class Neighbours(NamedTuple):
    """What stands on one side of W words; neighbours of word w are words[offsets[w]:offsets[w + 1]]."""

    offsets: np.ndarray  # int64[W + 1]
    words: np.ndarray  # int32[B]
    counts: np.ndarray  # int64[B], how often


class Bigrams(NamedTuple):
    """W words from frequent to rare, and how often they are neighbours. Words left out are nobody's neighbour."""

    words: list[str]  # of equally frequent ones that first which the text has first
    counts: np.ndarray  # int64[W], how often each occurs
    after: Neighbours  # right after a word
    before: Neighbours  # right before it


def read_bigrams(paths: Sequence[str | Path], min_count: int = 1) -> Bigrams:
    """Those of texts of one tokenized sentence a line, of words that occur `min_count` times or more.

    Raises FormatError where a text is not UTF-8, or holds a word that language models keep for themselves.
    """
    vocabulary = Vocabulary(SPECIALS)
    keys, key_counts = count_keys(_keys(text_tokens(paths, vocabulary, 2)))
    left, right = keys >> LEFT, keys & ((1 << LEFT) - 1)
    counts = np.zeros(len(vocabulary), np.int64)
    np.add.at(counts, right, key_counts)  # every word of a padded sentence but its <s> is the right one once
    counts[: len(SPECIALS)] = 0
    by_count = np.argsort(-counts, kind="stable")
    kept = by_count[counts[by_count] >= max(min_count, 1)]
    rank = np.full(len(vocabulary), -1, np.int32)
    rank[kept] = np.arange(kept.size)
    both = (rank[left] >= 0) & (rank[right] >= 0)
    left, right, key_counts = rank[left[both]], rank[right[both]], key_counts[both]
    words = [vocabulary.words[i] for i in kept]
    after, before = (_rows(*sides, key_counts, kept.size) for sides in ((left, right), (right, left)))
    return Bigrams(words, counts[kept], after, before)


def _keys(chunks: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """int64[K] keys of the pairs in chunks of whole padded sentences."""
    for chunk in chunks:
        left, right = chunk[:-1].astype(np.int64), chunk[1:]
        inside = left != END_ID
        yield left[inside] << LEFT | right[inside]


def count_keys(chunks: Iterator[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct numbers in `chunks` of int64, sorted, and how often each occurs (int64[K] both).

    New ones wait until they are as many as those already merged, so that each is moved a logarithmic number of times.
    """
    merged, waiting, n_waiting = _none(), [], 0
    for chunk in chunks:
        waiting.append(np.unique(chunk, return_counts=True))
        n_waiting += waiting[-1][0].size
        if n_waiting > merged[0].size:
            merged, waiting, n_waiting = _merge([merged, *waiting]), [], 0
    return _merge([merged, *waiting])


def _none() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _merge(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    keys = np.concatenate([keys for keys, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
    return keys[begins], np.add.reduceat(counts[order], begins) if begins.size else counts


def _rows(row: np.ndarray, column: np.ndarray, counts: np.ndarray, n_rows: int) -> Neighbours:
    order = np.lexsort((column, row))
    offsets = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=offsets[1:])
    return Neighbours(offsets, column[order].astype(np.int32), counts[order])
