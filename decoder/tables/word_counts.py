"""Frequencies of words in the training text: counted by train-model, or estimated from a phrase table.

Models of other toolkits and of older versions have no counts of words. For these, one-word phrases are counted in the
phrase table; words that are mostly aligned in groups then look rarer than they are.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.model_files import WORD_COUNTS, open_arrays
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

MOST_FREQUENT = 100  # words of a side (Green et al. 2013, section 3.2)
FOLDER, SIDES = "word_counts", ("source", "target")  # of a model


class FrequentWords(NamedTuple):
    """The most frequent words of both sides."""

    source: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()


class SideCounts(NamedTuple):
    """Frequencies of one side's words in the training text, by word id."""

    occurrences: np.ndarray  # int64[V], or float64[V] if they are estimated
    sentences: np.ndarray  # int64[V] or float64[V], number of sentences with the word


class WordCounts(NamedTuple):
    """Frequencies of both sides' words in the training text."""

    source: SideCounts
    target: SideCounts


class WordIdf(NamedTuple):
    """Inverse document frequencies of the words of both sides, in ln."""

    source: np.ndarray  # float64[V], by source word id; [0] in models whose features do not need it
    target: np.ndarray  # float64[V], by target word id


NO_COUNTS = WordCounts(*(SideCounts(np.zeros(0), np.zeros(0)) for _ in SIDES))
NO_IDF = WordIdf(np.zeros(0), np.zeros(0))


@kernel
def count_words(phrases: PhraseTable, source_counts: np.ndarray, target_counts: np.ndarray):
    """Add c(f, e), at least 1, of each phrase pair to the count of its source word and to that of its target word.

    Only sides of one word count. Both arrays are float64[V], by word id. Entries of a damaged table that point outside
    the arrays are skipped; BoundsChecks reports them if a sentence needs them.
    """
    n_pairs = min(phrases.target_offsets.size - 1, phrases.joint_counts.size)
    for source in range(phrases.source_offsets.size - 1):
        first, last = phrases.pair_offsets[source], phrases.pair_offsets[source + 1]
        # Check both bounds: the length of a range from a huge number to a negative one would overflow.
        for pair in range(min(max(first, 0), n_pairs), min(max(last, 0), n_pairs)):
            count = max(1.0, np.float64(phrases.joint_counts[pair]))
            _add(phrases.source_offsets, phrases.source_words, source, count, source_counts)
            _add(phrases.target_offsets, phrases.target_words, pair, count, target_counts)


@inlined_kernel
def _add(offsets, words, phrase, count, counts):
    """Add `count` to the count of the word of `phrase`, if it has one word."""
    first = offsets[phrase]
    if offsets[phrase + 1] - first == 1 and 0 <= first < words.size:
        word = np.int64(words[first])
        if 0 <= word < counts.size:
            counts[word] += count


def counts_of_words(
    directory: Path, phrases: PhraseTable, n_source_words: int, n_target_words: int
) -> Callable[[], WordCounts]:
    """A function that returns the counts of words of the model in `directory`: stored (mapped), or estimated ones.

    Estimated counts are computed at the first call. Raises ModelError or FormatError if a file of stored counts is
    missing or damaged.
    """
    sizes = n_source_words, n_target_words
    if not (directory / FOLDER).exists():
        return cache(partial(estimated_counts, phrases, *sizes))
    arrays = open_arrays(directory / FOLDER, WORD_COUNTS, dict(zip("VW", sizes)))
    kept = WordCounts(*(SideCounts(*(arrays[f"{side}_{what}"] for what in SideCounts._fields)) for side in SIDES))
    return lambda: kept


def estimated_counts(phrases: PhraseTable, n_source_words: int, n_target_words: int) -> WordCounts:
    """Counts of the words of both sides from a phrase table; a word has as many sentences as occurrences.

    The count of a word is the sum of the counts c(f, e) of all pairs whose source or target side is this word alone. In
    tables without counts, which other toolkits may write, each pair counts once.
    """
    counts = np.zeros(n_source_words), np.zeros(n_target_words)
    count_words(phrases, *counts)
    return WordCounts(*(SideCounts(side, side) for side in counts))


def frequent_words(counts: WordCounts, source: FixedVocabulary, target: FixedVocabulary) -> FrequentWords:
    """The MOST_FREQUENT words of each side; of equally frequent words, those that come first in the vocabulary."""
    return FrequentWords(*(_most_frequent(side.occurrences, words) for side, words in zip(counts, (source, target))))


def _most_frequent(occurrences: np.ndarray, vocabulary: FixedVocabulary) -> frozenset[str]:
    first = np.argsort(-occurrences, kind="stable")[:MOST_FREQUENT]
    return frozenset(vocabulary.word(i) for i in first.tolist() if occurrences[i] > 0)


def word_idf(counts: WordCounts, sentence_pairs: int) -> WordIdf:
    """ln of the number of sentence pairs over the number of sentences that have each word.

    Words in no sentence count as being in one. Estimated counts can exceed the number of sentence pairs: the idf is
    then 0. If the number of sentence pairs is unknown, the largest count replaces it.
    """
    n_documents = sentence_pairs or max(side.sentences.max(initial=1) for side in counts)
    return WordIdf(*(np.log(n_documents / np.clip(side.sentences, 1, n_documents)) for side in counts))


@inlined_kernel
def pair_idf(phrases: PhraseTable, idf: WordIdf, pair):
    """Summed idf of the target words of `pair` (int64) minus that of its source words (Green et al. 2013, eq. 8)."""
    total = 0.0
    for i in range(phrases.target_offsets[pair], phrases.target_offsets[pair + 1]):
        total += idf.target[phrases.target_words[i]]
    source = _source_of(phrases.pair_offsets, pair)
    for i in range(phrases.source_offsets[source], phrases.source_offsets[source + 1]):
        total -= idf.source[phrases.source_words[i]]
    return total


@inlined_kernel
def _source_of(offsets, pair):
    """The source phrase whose pairs, offsets[i]:offsets[i + 1], contain `pair`, by bisection."""
    first, last = np.int64(0), offsets.size - 1
    while last - first > 1:
        middle = (first + last) // 2
        if offsets[middle] <= pair:
            first = middle
        else:
            last = middle
    return first
