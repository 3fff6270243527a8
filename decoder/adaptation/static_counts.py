"""What all projects of a model share: counts of its phrase table, and an index of its words for unknown ones."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model_alignment.word_translation import WordTranslation, word_translation
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.tables.array_checks import check_phrase_table
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable
from phrasebeam.decoder.tables.source_slots import hash_phrases
from phrasebeam.decoder.unknown_words.related_pairs import RelatedPairs
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.kernels.words import same_words

SPREAD = 2.0**64  # number of hash values
SAMPLE = 1 << 10  # the first pairs of a table, from which usual scores are computed


class StaticArrays(NamedTuple):
    """The counts of a model as kernels read them, with V source and W target words, P pairs and K scores."""

    phrases: PhraseTable
    has_counts: bool  # whether the phrase table has counts
    prior_count: float  # count of each phrase, if the table has none
    target_keys: np.ndarray  # uint64[D], hashes of all target phrases, ascending
    target_counts: np.ndarray  # int32[D], c(e) of these phrases
    link_keys: np.ndarray  # int64[L], source word * W + target word, ascending
    link_counts: np.ndarray  # float64[L]
    source_links: np.ndarray  # float64[V], number of links of each source word
    target_links: np.ndarray  # float64[W]
    usual_scores: np.ndarray  # float32[K], medians of the first pairs, for scores that new pairs lack
    ln_reordering: np.ndarray  # float32[P, C], or [0, 0]
    reordering_counts: np.ndarray  # int32[P, 8], or [0, 8]
    orientation_columns: np.ndarray  # int64[2, 4], see Orientations
    is_by_source: bool  # whether all pairs of a source phrase have the same orientations


class StaticCounts:
    """Counts and words of a model's phrase table, read when first needed; any number of projects may share them."""

    def __init__(self, model: Model, prior_count: float):
        """`prior_count`: count of each phrase in a table without counts. Raises ModelError if the table is damaged."""
        check_phrase_table(model.tables.phrases, len(model.source), len(model.target))
        self.model, self.prior_count = model, prior_count

    @cached_property
    def words(self) -> WordTranslation:
        model = self.model
        return word_translation(model.tables.phrases, len(model.source), len(model.target), self.prior_count)

    @cached_property
    def related(self) -> RelatedPairs:
        """Finds translations of unknown words through words that the model knows."""
        return RelatedPairs(self.model, BoundsChecks(self.model.tables))

    @cached_property
    def arrays(self) -> StaticArrays:
        tables, words, description = self.model.tables, self.words, self.model.description
        phrases = tables.phrases
        keys, first = np.unique(hash_phrases(phrases.target_offsets, phrases.target_words), return_index=True)
        sample = phrases.scores_of(slice(SAMPLE))
        usual = np.median(sample, axis=0) if len(sample) else np.zeros(sample.shape[1])
        return StaticArrays(
            phrases,
            bool(phrases.joint_counts[:SAMPLE].any()),
            float(self.prior_count),
            keys,
            np.array(phrases.target_counts[first]),
            words.keys,
            words.counts,
            words.source_counts,
            words.target_counts,
            usual.astype(np.float32),
            tables.ln_reordering,
            self.model.reordering_counts,
            tables.orientations.columns,
            description.reordering is not None and description.reordering.condition == "f",
        )


@inlined_kernel
def static_source_count(static: StaticArrays, source):
    """c(f) (float64) of the source phrase with this number (int64); 0 for ABSENT."""
    if source == ABSENT:
        return 0.0
    return np.float64(static.phrases.source_counts[source]) if static.has_counts else static.prior_count


@inner_kernel
def static_target_count(static: StaticArrays, key):
    """c(e) (float64) of the target phrase with the hash `key` (uint64); 0 if the table lacks it."""
    place = _place_of_hash(static.target_keys, key)
    if place == static.target_keys.size or static.target_keys[place] != key:
        return 0.0
    return np.float64(static.target_counts[place]) if static.has_counts else static.prior_count


@inner_kernel
def static_pair(static: StaticArrays, source, words, begin, length):
    """The pair (int64) of the source phrase with this number and target words[begin:begin + length], or ABSENT."""
    table = static.phrases
    if source == ABSENT:
        return np.int64(ABSENT)
    for pair in range(table.pair_offsets[source], table.pair_offsets[source + 1]):
        first = table.target_offsets[pair]
        if table.target_offsets[pair + 1] - first == length and same_words(
            table.target_words, first, words, begin, length
        ):
            return pair
    return np.int64(ABSENT)


@inner_kernel
def static_links(static: StaticArrays, source, target):
    """How often `source` and `target` (int64) are linked (float64); 0 if the model lacks one of them."""
    n_target = static.target_links.size
    if source >= static.source_links.size or target >= n_target:
        return 0.0
    key = source * n_target + target
    place = _first_at_least(static.link_keys, key, np.int64(0), np.int64(static.link_keys.size))
    if place == static.link_keys.size or static.link_keys[place] != key:
        return 0.0
    return static.link_counts[place]


@inner_kernel
def _place_of_hash(ascending, key):
    """The first index (int64) of ascending hashes (uint64[D]) whose element is not below `key` (uint64).

    Hashes are distributed evenly, so that the key is some sqrt(D) from the place that its share of 2^64 predicts: few
    lines of memory are read, while a binary search reads one in each step.
    """
    size, step = np.int64(ascending.size), np.int64(64)
    low = min(np.int64(np.float64(key) / SPREAD * size), size)
    high = low
    while low > 0 and ascending[low - 1] >= key:
        high, low, step = low, max(np.int64(0), low - step), 2 * step
    while high < size and ascending[high] < key:
        low, high, step = high, min(size, high + step), 2 * step
    return _first_at_least(ascending, key, low, high)


@inner_kernel
def _first_at_least(ascending, value, low, high):
    """The first index (int64) in low:high of an ascending array whose element is not below `value`, or high.

    `low` and `high` are int64; `value` has the dtype of the array.
    """
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
