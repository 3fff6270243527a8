"""How often words stand in the training data, estimated from the counts of one-word phrases in a phrase table."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

MOST_FREQUENT = 100  # words of a side (Green et al. 2013, section 3.2)


class FrequentWords(NamedTuple):
    """The most frequent words of both sides."""

    source: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()


class WordIdf(NamedTuple):
    """Inverse document frequencies of the words of both sides, in ln."""

    source: np.ndarray  # float64[V], by source word id; [0] in models whose features do not need them
    target: np.ndarray  # float64[V], by target word id


NO_IDF = WordIdf(np.zeros(0), np.zeros(0))


@kernel
def count_words(phrases: PhraseTable, source_counts: np.ndarray, target_counts: np.ndarray):
    """Add c(f, e), at least 1, of each phrase pair to the count of its source word and to that of its target word.

    Only sides of one word count. Both arrays are float64[V], by word id. What leads out of the arrays of a damaged
    table is passed over; BoundsChecks reports it where a sentence needs it.
    """
    n_pairs = min(phrases.target_offsets.size - 1, phrases.joint_counts.size)
    for source in range(phrases.source_offsets.size - 1):
        first, last = phrases.pair_offsets[source], phrases.pair_offsets[source + 1]
        # Both within bounds: the length of a range from a huge number to a negative one would overflow.
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


def word_counts(phrases: PhraseTable, n_source_words: int, n_target_words: int) -> tuple[np.ndarray, np.ndarray]:
    """float64[V] counts of the words of both sides, by id.

    The count of a word is the sum of the counts c(f, e) of all pairs whose source side, or target side, is this word
    alone. In tables without counts, which other toolkits may write, each pair counts once.
    """
    counts = np.zeros(n_source_words), np.zeros(n_target_words)
    count_words(phrases, *counts)
    return counts


def frequent_words(phrases: PhraseTable, source: FixedVocabulary, target: FixedVocabulary) -> FrequentWords:
    """The MOST_FREQUENT words of each side; of equally frequent ones those that come first in the vocabulary."""
    counts = word_counts(phrases, len(source), len(target))
    return FrequentWords(*(_most_frequent(*side) for side in zip(counts, (source, target))))


def _most_frequent(counts: np.ndarray, vocabulary: FixedVocabulary) -> frozenset[str]:
    first = np.argsort(-counts, kind="stable")[:MOST_FREQUENT]
    return frozenset(vocabulary.word(i) for i in first.tolist() if counts[i] > 0)


def word_idf(phrases: PhraseTable, n_source_words: int, n_target_words: int, sentence_pairs: int) -> WordIdf:
    """ln of the number of sentence pairs over the count of each word, which stands for the sentences that have it.

    It is 0 for words that are more frequent. Without a number of sentence pairs the largest count stands for it.
    """
    counts = word_counts(phrases, n_source_words, n_target_words)
    n_documents = sentence_pairs or max(n.max(initial=1) for n in counts)
    return WordIdf(*(np.log(n_documents / np.clip(n, 1, n_documents)) for n in counts))


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
