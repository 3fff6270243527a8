"""Word translation counts of a model, read from its phrase table: they show which words are translations of each other.

If one side of a phrase pair is a single word that is linked to all words of the other side, the pair has no inner
ambiguity: its links count as often as the pair was extracted. So models need no further file, and imported models can
be used as well.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.phrase_table import TARGET_GIVEN_SOURCE, PhraseTable
from phrasebeam.decoder.tables.ragged import taken

PAIRS_AT_ONCE = 1 << 20
LONGEST = 3  # words to which one word may be linked


class WordTranslation(NamedTuple):
    """Counts of links of D pairs of words, of V source and W target words."""

    keys: np.ndarray  # int64[D], source * W + target, ascending
    counts: np.ndarray  # float64[D]
    source_counts: np.ndarray  # float64[V], sums of `counts` by source word
    target_counts: np.ndarray  # float64[W], sums of `counts` by target word

    def link_counts(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """float64[n, m], link counts of words `source` (int32[n]) and `target` (int32[m]); ids may be of new words."""
        n_target = self.target_counts.size
        keys = source.astype(np.int64)[:, None] * n_target + target[None, :]
        places = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        is_known = (source[:, None] < self.source_counts.size) & (target[None, :] < n_target)
        return np.where(is_known & (self.keys[places] == keys), self.counts[places], 0.0)


def counts_of(counts: np.ndarray, words: np.ndarray) -> np.ndarray:
    """float64[n], `counts` (float64[V]) of `words` (int32[n]), 0 for new words, whose ids are V or more."""
    return np.where(words < counts.size, counts[np.minimum(words, counts.size - 1)], 0.0)


def word_translation(phrases: PhraseTable, n_source: int, n_target: int, prior_count: float) -> WordTranslation:
    """The counts of links in a phrase table over vocabularies of these sizes.

    In a table without counts, a pair counts p(e|f) times `prior_count`. The table must be sound, see
    check_phrase_table.
    """
    keys: np.ndarray = np.zeros(0, np.int64)
    counts: np.ndarray = np.zeros(0, np.float64)
    for links, weights in _links(phrases, prior_count):
        new_keys = links[:, 0].astype(np.int64) * n_target + links[:, 1]
        keys, inverse = np.unique(np.concatenate([keys, new_keys]), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([counts, weights]), keys.size)
    if not keys.size:  # add a row that no pair of words has
        keys, counts = np.array([-1]), np.zeros(1)
        return WordTranslation(keys, counts, np.zeros(n_source), np.zeros(n_target))
    source_counts = np.bincount(keys // n_target, counts, n_source)
    return WordTranslation(keys, counts, source_counts, np.bincount(keys % n_target, counts, n_target))


def _links(phrases: PhraseTable, prior_count: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield int32[A, 2], (source, target) words of unambiguous links, and float64[A], the count of each, in parts."""
    offsets, n_sources = phrases.pair_offsets, phrases.source_offsets.size - 1
    first = 0
    while first < n_sources:
        last = int(np.searchsorted(offsets, offsets[first] + PAIRS_AT_ONCE))
        last = min(max(last, first + 1), n_sources)
        yield _links_of(phrases, first, last, prior_count)
        first = last


def _links_of(phrases: PhraseTable, first: int, last: int, prior_count: float) -> tuple[np.ndarray, np.ndarray]:
    pair_offsets = phrases.pair_offsets[first : last + 1]
    sources = np.repeat(np.arange(first, last), np.diff(pair_offsets))
    pairs = np.arange(pair_offsets[0], pair_offsets[-1])
    source_lengths = phrases.source_offsets[sources + 1] - phrases.source_offsets[sources]
    target_lengths = phrases.target_offsets[pairs + 1] - phrases.target_offsets[pairs]
    n_points = phrases.alignment_offsets[pairs + 1] - phrases.alignment_offsets[pairs]
    longer = np.maximum(source_lengths, target_lengths)
    is_alone = (np.minimum(source_lengths, target_lengths) == 1) & (longer <= LONGEST)
    is_linked = (n_points == longer) | ((n_points == 0) & (longer == 1))
    chosen = np.flatnonzero(is_alone & is_linked)
    sources, pairs, longer = sources[chosen], pairs[chosen], longer[chosen]
    weights = phrases.joint_counts[pairs].astype(np.float64)
    if not weights.any():
        weights = prior_count * np.exp(phrases.scores_of(pairs)[:, TARGET_GIVEN_SOURCE].astype(np.float64))
    # Each word of the longer side once, paired with the single word of the other side, which is repeated.
    _, source_columns = taken(phrases.source_offsets, sources)
    _, target_columns = taken(phrases.target_offsets, pairs)
    single_source, single_target = source_lengths[chosen] == 1, target_lengths[chosen] == 1
    source_words = np.repeat(
        phrases.source_words[source_columns], np.repeat(np.where(single_source, longer, 1), source_lengths[chosen])
    )
    target_words = np.repeat(
        phrases.target_words[target_columns], np.repeat(np.where(single_target, longer, 1), target_lengths[chosen])
    )
    return np.column_stack((source_words, target_words)), np.repeat(weights, longer)
