"""Leave-one-out: counts of a training sentence pair that are subtracted from the phrase table to translate it.

The phrase pairs of the held-out sentence pair are extracted again and counted. A phrase pair that no other sentence
pair supports is dropped (Yu et al. 2013, section 4.2), or both its probabilities become a penalty (Wuebker et al. 2010,
section 4.1; Wuebker et al. 2015, section 5.2). Lexical weights do not change. With large data it is enough to drop all
pairs that occur once in the bitext, wherever that is, and to subtract nothing (Yu et al. 2013, section 4.2).
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.extraction.occurrences import orientations, source_length, target_length
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.sentence import sentence_occurrences
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS
from phrasebeam.decoder.input.sentence_input import HeldOutPair
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN, TYPES
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    MOSES_SCORES,
    SOURCE_GIVEN_TARGET,
    TARGET_GIVEN_SOURCE,
    PhraseTable,
    find_source,
    phrase_hash,
)
from phrasebeam.decoder.tables.score_codes import codes_of
from phrasebeam.decoder.tables.score_smoothing import NO_DISCOUNTING, Discounting, smoothed_scores, type_of
from phrasebeam.kernels.hashing import START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.words import same_words

# Modes: what happens to pairs whose count becomes 0; SINGLETONS: to pairs whose count is 1, without subtraction
KEEP_ALL, DROP, PENALTY, SINGLETONS = (np.int64(i) for i in range(4))
MODES = {"drop": DROP, "penalty": PENALTY, "singletons": SINGLETONS}
SAMPLE = 1 << 10  # phrase pairs that check_frequencies checks


class HeldOutCounts(NamedTuple):
    """Counts of the K phrase pair occurrences of a sentence pair; a phrase or pair is named by its first occurrence."""

    occurrences: Annotated[np.ndarray, array(np.int32, "K", 4)]  # see extraction/occurrences.py
    source_words: Annotated[np.ndarray, array(np.int32, "n")]
    target_words: Annotated[np.ndarray, array(np.int32, "m")]
    # Hash tables of source phrases, target phrases and pairs: occurrence or ABSENT; T a power of two > 2 K
    source_slots: Annotated[np.ndarray, array(np.int32, "T", fill=ABSENT)]
    target_slots: Annotated[np.ndarray, array(np.int32, "T", fill=ABSENT)]
    pair_slots: Annotated[np.ndarray, array(np.int32, "T", fill=ABSENT)]
    source_of: Annotated[np.ndarray, array(np.int32, "K")]  # first occurrence of the source phrase
    target_of: Annotated[np.ndarray, array(np.int32, "K")]  # of the target phrase
    source_counts: Annotated[np.ndarray, array(np.int64, "K")]  # stored at the first occurrence, like all counts
    target_counts: Annotated[np.ndarray, array(np.int64, "K")]
    pair_counts: Annotated[np.ndarray, array(np.int64, "K")]
    # Change of the number of pairs with count 1, 2, 3 or more through the subtraction; filled where scores are smoothed
    source_types: Annotated[np.ndarray, array(np.int64, "K", TYPES)]
    target_types: Annotated[np.ndarray, array(np.int64, "K", TYPES)]
    # M S DL DR to the previous phrase, then to the next
    source_orientations: Annotated[np.ndarray, array(np.int64, "K", 2 * N_ORIENTATIONS)]
    pair_orientations: Annotated[np.ndarray, array(np.int64, "K", 2 * N_ORIENTATIONS)]


def new_counts(occurrences: np.ndarray, source: np.ndarray, target: np.ndarray) -> HeldOutCounts:
    """Allocate HeldOutCounts for `occurrences` (int32[K, 4]) in the sentence pair `source`, `target` (int32), all 0."""
    sizes = {"K": len(occurrences), "T": 1 << (2 * len(occurrences)).bit_length()}
    return allocate(HeldOutCounts, sizes, occurrences=occurrences, source_words=source, target_words=target)


NO_COUNTS = new_counts(np.zeros((0, 4), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32))


@kernel
def count_held_out(counts: HeldOutCounts):
    """Fill the hash tables and counts of `counts`, which must be new."""
    for i in range(counts.occurrences.shape[0]):
        occurrence = counts.occurrences[i]
        first, begin = np.int64(occurrence[1]), np.int64(occurrence[2])
        slot = _source_slot(counts, counts.source_words, first, first + source_length(occurrence))
        if counts.source_slots[slot] == ABSENT:
            counts.source_slots[slot] = i
        source = np.int64(counts.source_slots[slot])
        slot = _target_slot(counts, counts.target_words, begin, begin + target_length(occurrence))
        if counts.target_slots[slot] == ABSENT:
            counts.target_slots[slot] = i
        target = np.int64(counts.target_slots[slot])
        counts.source_of[i], counts.target_of[i] = source, target
        slot = _pair_slot(counts, source, target)
        if counts.pair_slots[slot] == ABSENT:
            counts.pair_slots[slot] = i
        pair = np.int64(counts.pair_slots[slot])
        counts.source_counts[source] += 1
        counts.target_counts[target] += 1
        counts.pair_counts[pair] += 1
        previous, following = orientations(occurrence)
        for column in (previous, N_ORIENTATIONS + following):
            counts.source_orientations[source, column] += 1
            counts.pair_orientations[pair, column] += 1


@kernel
def count_held_out_types(phrases: PhraseTable, counts: HeldOutCounts):
    """Fill source_types and target_types of `counts`; the table must have been made from the sentence pair."""
    for i in range(counts.occurrences.shape[0]):
        source, target = np.int64(counts.source_of[i]), np.int64(counts.target_of[i])
        if counts.pair_slots[_pair_slot(counts, source, target)] != i:
            continue
        joint = _joint_count(phrases, counts, i)
        remaining = joint - counts.pair_counts[i]
        if joint > 0:
            counts.source_types[source, type_of(joint)] -= 1
            counts.target_types[target, type_of(joint)] -= 1
        if remaining > 0:
            counts.source_types[source, type_of(remaining)] += 1
            counts.target_types[target, type_of(remaining)] += 1


@inner_kernel
def _joint_count(phrases, counts, i):
    """Count of the phrase pair of occurrence `i` (int64), 0 if the table lacks the pair."""
    occurrence = counts.occurrences[i]
    first, begin, length = np.int64(occurrence[1]), np.int64(occurrence[2]), target_length(occurrence)
    source = find_source(phrases, counts.source_words, first, first + source_length(occurrence))
    if source < 0:
        return np.int64(0)
    for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
        word = phrases.target_offsets[pair]
        is_as_long = phrases.target_offsets[pair + 1] - word == length
        if is_as_long and same_words(phrases.target_words, word, counts.target_words, begin, length):
            return np.int64(phrases.joint_counts[pair])
    return np.int64(0)


@kernel
def held_out_source(counts: HeldOutCounts, words, begin, end):
    """Index (int64) of the first occurrence of the source phrase words[begin:end], or ABSENT; `words`: int32[n]."""
    return np.int64(counts.source_slots[_source_slot(counts, words, begin, end)])


@kernel
def held_out_target(counts: HeldOutCounts, words, begin, end):
    """Index (int64) of the first occurrence of the target phrase words[begin:end], or ABSENT; `words`: int32[n]."""
    return np.int64(counts.target_slots[_target_slot(counts, words, begin, end)])


@kernel
def held_out_pair(counts: HeldOutCounts, source, target):
    """The first occurrence (int64) of a pair of phrases, or ABSENT.

    `source` and `target` (int64) are the first occurrences of the two phrases, or ABSENT.
    """
    if source == ABSENT or target == ABSENT:
        return np.int64(ABSENT)
    return np.int64(counts.pair_slots[_pair_slot(counts, source, target)])


@inlined_kernel
def _source_slot(counts, words, begin, end):
    slot = first_slot(phrase_hash(words, begin, end), counts.source_slots.size)
    while counts.source_slots[slot] != ABSENT:
        occurrence = counts.occurrences[counts.source_slots[slot]]
        first, length = np.int64(occurrence[1]), source_length(occurrence)
        if length == end - begin and same_words(counts.source_words, first, words, begin, length):
            break
        slot = next_slot(slot, counts.source_slots.size)
    return slot


@inlined_kernel
def _target_slot(counts, words, begin, end):
    slot = first_slot(phrase_hash(words, begin, end), counts.target_slots.size)
    while counts.target_slots[slot] != ABSENT:
        occurrence = counts.occurrences[counts.target_slots[slot]]
        first, length = np.int64(occurrence[2]), target_length(occurrence)
        if length == end - begin and same_words(counts.target_words, first, words, begin, length):
            break
        slot = next_slot(slot, counts.target_slots.size)
    return slot


@inlined_kernel
def _pair_slot(counts, source, target):
    slot = first_slot(mix(combine(combine(START, source), target)), counts.pair_slots.size)
    while counts.pair_slots[slot] != ABSENT:
        other = np.int64(counts.pair_slots[slot])
        if counts.source_of[other] == source and counts.target_of[other] == target:
            break
        slot = next_slot(slot, counts.pair_slots.size)
    return slot


def held_out_counts(model: Model, source: np.ndarray, held_out: HeldOutPair) -> HeldOutCounts:
    """Counts of the phrase pairs in a training sentence pair; `source` (int32[n]) are the ids of its source words."""
    target = model.target.ids(list(held_out.reference))
    if not source.size or not target.size:
        return NO_COUNTS
    sizes, reordering = model.description, model.description.reordering
    longest = longest_held_out(sizes)
    kind = KINDS[reordering.orientation if reordering else "word"]
    alignments = [held_out.alignment, *held_out.more_alignments]
    if len(alignments) != sizes.alignments:
        found = f"leave-one-out with {len(alignments)} word alignments, and the model was made of {sizes.alignments}"
        raise ModelError(f"{found}; give these, which it keeps in the file alignment")
    occurrences = sentence_occurrences(source, target, alignments, longest, kind, sizes.agreement)
    counts = new_counts(occurrences, source, target)
    count_held_out(counts)
    if len(model.discounting.target_types):
        count_held_out_types(model.tables.phrases, counts)
    return counts


def longest_held_out(sizes: ModelDescription) -> int:
    """Length in words of the longest phrases that are held out: phrases of the training data were no longer."""
    return max(sizes.max_source_phrase_length, sizes.max_target_phrase_length)


def check_frequencies(phrases: PhraseTable, discounting: Discounting = NO_DISCOUNTING) -> None:
    """Raise ModelError unless p(f|e) and p(e|f) of the first pairs agree with their counts."""
    n_sources = phrases.source_counts.size
    last = min(int(np.searchsorted(phrases.pair_offsets, SAMPLE)), n_sources)
    offsets = np.asarray(phrases.pair_offsets[: last + 1])
    if offsets[0] != 0 or np.any(np.diff(offsets) < 0) or offsets[-1] > phrases.joint_counts.size:
        message = f"expected ascending offsets from 0 to {phrases.joint_counts.size} among the first {offsets.size}"
        raise ModelError(f"phrases/pair_offsets.npy: {message}; {TRAIN_AGAIN}")
    if phrases.ln_scores.shape[1] >= MOSES_SCORES:
        expected = smoothed_scores(phrases, discounting, 0, last)
        columns = [SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE]
        if phrases.codebook.size:
            codebook = phrases.codebook[:, columns]
            expected = np.take_along_axis(codebook, codes_of(codebook, expected), axis=0)
        found = phrases.scores_of(slice(len(expected)))[:, columns]
        if np.allclose(expected, found, atol=1e-3):
            return
    raise ModelError(
        "leave-one-out needs a phrase table whose probabilities are relative frequencies of counts that it holds, or "
        "smoothed as model.yaml says, and these are not; use a model that train-model made"
    )
