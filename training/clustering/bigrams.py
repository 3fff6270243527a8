"""Counts of the bigrams of a text, in memory that grows with the distinct bigrams, not with the text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.lm.counting import END_ID, SPECIALS, text_tokens
from phrasebeam.lm.text.vocabulary import Vocabulary

LEFT_SHIFT = 32  # the key of a bigram is left << LEFT_SHIFT | right


class Neighbours(NamedTuple):
    """Neighbours of W words on one side, B in all; those of word w are words[offsets[w]:offsets[w + 1]]."""

    offsets: np.ndarray  # int64[W + 1]
    words: np.ndarray  # int32[B], in increasing order for each w
    counts: np.ndarray  # int64[B], of the bigram


class Bigrams(NamedTuple):
    """W words from frequent to rare, and the bigrams of two of these words; all other bigrams are left out."""

    words: list[str]  # equally frequent words are in the order of their first occurrence
    counts: np.ndarray  # int64[W], frequencies of words
    after: Neighbours  # the next words
    before: Neighbours  # the previous words


def read_bigrams(paths: Sequence[str | Path], min_count: int = 1) -> Bigrams:
    """Count the bigrams of words that occur at least `min_count` times in texts of one tokenized sentence per line.

    The words <s>, </s> and <unk> are left out. Raises FormatError if a text is not UTF-8.
    """
    vocabulary = Vocabulary(SPECIALS)
    keys, key_counts = count_keys(_keys(text_tokens(paths, vocabulary, 2)))
    left, right = keys >> LEFT_SHIFT, keys & ((1 << LEFT_SHIFT) - 1)
    counts = np.zeros(len(vocabulary), np.int64)
    np.add.at(counts, right, key_counts)  # every token but <s> is the second word of exactly one bigram
    counts[: len(SPECIALS)] = 0
    by_count = np.argsort(-counts, kind="stable")
    frequent = by_count[counts[by_count] >= max(min_count, 1)]
    rank = np.full(len(vocabulary), -1, np.int32)
    rank[frequent] = np.arange(frequent.size)
    is_frequent = (rank[left] >= 0) & (rank[right] >= 0)
    left, right, key_counts = rank[left[is_frequent]], rank[right[is_frequent]], key_counts[is_frequent]
    words = [vocabulary.words[i] for i in frequent]
    after, before = (_neighbours(*sides, key_counts, frequent.size) for sides in ((left, right), (right, left)))
    return Bigrams(words, counts[frequent], after, before)


def _keys(chunks: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the keys (int64[K]) of the bigrams in each chunk (int32) of whole padded sentences."""
    for chunk in chunks:
        left, right = chunk[:-1].astype(np.int64), chunk[1:]
        inside = left != END_ID
        yield left[inside] << LEFT_SHIFT | right[inside]


def count_keys(chunks: Iterator[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers in `chunks` of int64, sorted, and how often each occurs (both int64[K]).

    New chunks are merged once they have as many numbers as were merged before, so that each number is moved a
    logarithmic number of times.
    """
    merged, pending, n_pending = (np.zeros(0, np.int64), np.zeros(0, np.int64)), [], 0
    for chunk in chunks:
        pending.append(np.unique(chunk, return_counts=True))
        n_pending += pending[-1][0].size
        if n_pending > merged[0].size:
            merged, pending, n_pending = _merge([merged, *pending]), [], 0
    return _merge([merged, *pending])


def _merge(tables: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys of all `tables` of (keys, counts), sorted, and the sums of their counts (int64[K] each)."""
    keys = np.concatenate([keys for keys, _ in tables])
    counts = np.concatenate([counts for _, counts in tables])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
    return keys[begins], np.add.reduceat(counts[order], begins) if begins.size else counts


def _neighbours(words: np.ndarray, others: np.ndarray, counts: np.ndarray, n_words: int) -> Neighbours:
    """Neighbours `others` of `words`, aligned (int32[B]), with their counts (int64[B])."""
    order = np.lexsort((others, words))
    offsets = np.zeros(n_words + 1, np.int64)
    np.cumsum(np.bincount(words, minlength=n_words), out=offsets[1:])
    return Neighbours(offsets, others[order].astype(np.int32), counts[order])
