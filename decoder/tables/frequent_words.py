"""The most frequent words of the training data, estimated from the counts of one-word phrases in a phrase table."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

MOST_FREQUENT = 100  # words of a side (Green et al. 2013, section 3.2)


class FrequentWords(NamedTuple):
    """The most frequent words of both sides."""

    source: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()


@kernel
def count_words(phrases: PhraseTable, source_counts: np.ndarray, target_counts: np.ndarray):
    """Add c(f, e), at least 1, of each phrase pair to the count of its source word and to that of its target word.

    Only sides of one word count. Both arrays are float64[V], by word id. What leads out of the arrays of a damaged
    table is passed over; BoundsChecks reports it where a sentence needs it.
    """
    n_pairs = min(phrases.target_offsets.size - 1, phrases.joint_counts.size)
    for source in range(phrases.source_offsets.size - 1):
        first, last = max(phrases.pair_offsets[source], 0), min(phrases.pair_offsets[source + 1], n_pairs)
        for pair in range(first, last):
            count = max(1.0, np.float64(phrases.joint_counts[pair]))
            _add(phrases.source_offsets, phrases.source_words, source, count, source_counts)
            _add(phrases.target_offsets, phrases.target_words, pair, count, target_counts)


@kernel
def _add(offsets, words, phrase, count, counts):
    """Add `count` to the count of the word of `phrase`, if it has one word."""
    first = offsets[phrase]
    if offsets[phrase + 1] - first == 1 and 0 <= first < words.size:
        word = np.int64(words[first])
        if 0 <= word < counts.size:
            counts[word] += count


def frequent_words(phrases: PhraseTable, source: FixedVocabulary, target: FixedVocabulary) -> FrequentWords:
    """The MOST_FREQUENT words of each side; of equally frequent ones those that come first in the vocabulary.

    The frequency of a word is the sum of the counts c(f, e) of all pairs whose source side, or target side, is this
    word alone. In tables without counts, which other toolkits may write, each pair counts once.
    """
    counts = np.zeros(len(source)), np.zeros(len(target))
    count_words(phrases, *counts)
    return FrequentWords(*(_most_frequent(*side) for side in zip(counts, (source, target))))


def _most_frequent(counts: np.ndarray, vocabulary: FixedVocabulary) -> frozenset[str]:
    first = np.argsort(-counts, kind="stable")[:MOST_FREQUENT]
    return frozenset(vocabulary.word(i) for i in first.tolist() if counts[i] > 0)
