"""Selection of the phrase pairs that a sentence needs: those of its phrases, or only those that occur in a reference.

A table limit keeps the K best pairs of a source phrase. Held-out counts change the scores of some pairs; they change
those of all others by the same amount, unless Kneser-Ney smooths them. The K best are therefore among the changed pairs
and the K best others. Somewhat more than K pairs are ranked by the scores of the whole model, a ranking that is cached
across sentences; the other pairs are left out.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.pool import ScratchArrays
from phrasebeam.decoder.extraction.occurrences import source_length
from phrasebeam.decoder.held_out.leave_one_out import (
    DROP,
    SINGLETONS,
    HeldOutCounts,
    held_out_pair,
    held_out_source,
    held_out_target,
)
from phrasebeam.decoder.options.candidates import Lookup, choose
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, find_source, phrase_hash
from phrasebeam.decoder.tables.score_smoothing import Discounting
from phrasebeam.kernels.hashing import first_slot, n_slots, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

FIRST_WORDS = 1 << 12  # size of the filter of first words, a power of two
EXTRA_PAIRS = 12  # pairs that are ranked in addition to the table limit
ALL = -1  # replaces a number of best pairs


class FilterQuery(NamedTuple):
    """A sentence of n words and, if any, its reference of m words, for which pairs of the phrase table are selected."""

    words: np.ndarray  # int32[n], source ids of the sentence
    longest: int  # words of the longest source phrase
    reference: np.ndarray  # int32[m], target ids
    first_words: np.ndarray  # bool[FIRST_WORDS], whether the reference has a word whose id ends in these bits
    is_forced: bool  # only pairs whose target phrase occurs in the reference
    held_out: HeldOutCounts
    mode: np.int64  # one of MODES, or KEEP_ALL
    table_limit: int  # pairs of a source phrase that the search uses, 0 for all
    orientation_counts: np.ndarray  # int64[8], scratch space of copy_pairs
    discounting: Discounting  # of the model's scores
    source_types: np.ndarray  # int64[TYPES], scratch space of copy_pairs


class FilteredPairs(NamedTuple):
    """N source phrases and P pairs of the model's table that a sentence needs; arrays have at least these lengths."""

    source: np.ndarray  # int64[N], number in the model's table
    begin: np.ndarray  # int64[N], first word of its first occurrence in the sentence
    end: np.ndarray  # int64[N], last word + 1
    held_out_source: np.ndarray  # int64[N], number in HeldOutCounts, or ABSENT
    pair_offsets: np.ndarray  # int64[N + 1], into `pair`
    pair: np.ndarray  # int64[P], number in the model's table
    held_out_target: np.ndarray  # int32[P], number in HeldOutCounts, or ABSENT
    held_out_pair: np.ndarray  # int32[P], number in HeldOutCounts, or ABSENT
    best: np.ndarray  # int64[M], scratch: best pairs of a source phrase, counted from its first, ascending
    slots: np.ndarray  # int64[T], hash table of the N source phrases, see PhraseTable
    sizes: np.ndarray  # int64[4]: N, words of the source phrases, P, words of the target phrases
    missing: np.ndarray  # int64[1], number of held-out occurrences of phrase pairs that the table's counts lack


def new_filtered_pairs(query: FilterQuery, n_candidates: int, scratch: ScratchArrays) -> FilteredPairs:
    """Allocate empty FilteredPairs for the phrases of a sentence, which have `n_candidates` pairs in all."""
    n_phrases = query.words.size * query.longest
    filtered = FilteredPairs(
        source=scratch.take("source", np.int64, n_phrases),
        begin=scratch.take("begin", np.int64, n_phrases),
        end=scratch.take("end", np.int64, n_phrases),
        held_out_source=scratch.take("held_out_source", np.int64, n_phrases),
        pair_offsets=scratch.take("chosen_offsets", np.int64, n_phrases + 1),
        pair=scratch.take("pair", np.int64, n_candidates),
        held_out_target=scratch.take("held_out_target", np.int32, n_candidates),
        held_out_pair=scratch.take("held_out_pair", np.int32, n_candidates),
        best=scratch.take("best", np.int64, n_candidates),
        slots=scratch.take("slots", np.int64, n_slots(n_phrases)),
        sizes=np.zeros(4, np.int64),
        missing=np.zeros(1, np.int64),
    )
    filtered.slots.fill(ABSENT)
    return filtered


@kernel
def count_candidates(phrases: PhraseTable, words, longest):
    """Number of pairs of all phrases of `words` (int32[n]) of up to `longest` words; repeated phrases count again."""
    count = np.int64(0)
    for begin in range(words.size):
        for end in range(begin + 1, min(begin + longest, words.size) + 1):
            source = find_source(phrases, words, begin, end)
            if source != ABSENT:
                count += phrases.pair_offsets[source + 1] - phrases.pair_offsets[source]
    return count


@kernel
def filter_pairs(lookup: Lookup, query: FilterQuery, filtered: FilteredPairs):
    """Fill `filtered`, which must be new, from lookup.tables; lookup.limit is query.table_limit + EXTRA_PAIRS, or 0."""
    phrases, words, slots, number = lookup.tables.phrases, query.words, filtered.slots, np.int64(0)
    filtered.pair_offsets[0] = 0
    for i in range(query.held_out.occurrences.shape[0]):
        filtered.missing[0] += source_length(query.held_out.occurrences[i]) <= query.longest
    for begin in range(words.size):
        for end in range(begin + 1, min(begin + query.longest, words.size) + 1):
            source = find_source(phrases, words, begin, end)
            if source == ABSENT:
                continue
            slot = first_slot(phrase_hash(words, begin, end), slots.size)
            while slots[slot] != ABSENT and filtered.source[slots[slot]] != source:
                slot = next_slot(slot, slots.size)
            if slots[slot] != ABSENT:
                continue
            filtered.source[number], filtered.begin[number], filtered.end[number] = source, begin, end
            filtered.held_out_source[number] = held_out_source(query.held_out, words, begin, end)
            n_pairs = _filter_pairs_of(lookup, query, filtered, number)
            # A word is kept even if all its pairs were filtered out, so that it does not count as unknown.
            if n_pairs > 0 or (
                end - begin == 1 and _has_pairs(phrases, query, source, filtered.held_out_source[number])
            ):
                slots[slot] = number
                number += 1
                filtered.sizes[1] += end - begin
    filtered.sizes[0] = number


@inner_kernel
def _filter_pairs_of(lookup, query, filtered, number):
    """Select pairs of source phrase `number`; return how many."""
    phrases, source, n_best = lookup.tables.phrases, filtered.source[number], np.int64(ALL)
    n_pairs = phrases.pair_offsets[source + 1] - phrases.pair_offsets[source]
    if 0 < lookup.limit < n_pairs:
        n_best = choose(source, source + 1, lookup)
        for k in range(n_best):
            item, i = lookup.candidates.heap[k], k
            while i > 0 and filtered.best[i - 1] > item:
                filtered.best[i] = filtered.best[i - 1]
                i -= 1
            filtered.best[i] = item
    missing, n_target_words = filtered.missing[0], filtered.sizes[3]
    n_others = _take_pairs(phrases, query, filtered, number, n_best)
    if n_best != ALL and n_others < query.table_limit:
        filtered.missing[0], filtered.sizes[3] = missing, n_target_words
        _take_pairs(phrases, query, filtered, number, np.int64(ALL))
    return filtered.pair_offsets[number + 1] - filtered.pair_offsets[number]


@inner_kernel
def _take_pairs(phrases, query, filtered, number, n_best):
    """Select the `n_best` pairs in filtered.best (or ALL) and all with held-out counts; return how many have none."""
    source, row, held_out_f = filtered.source[number], filtered.pair_offsets[number], filtered.held_out_source[number]
    first, next_best, n_others = phrases.pair_offsets[source], np.int64(0), np.int64(0)
    for pair in range(first, phrases.pair_offsets[source + 1]):
        is_best = n_best == ALL or (next_best < n_best and filtered.best[next_best] == pair - first)
        next_best += is_best
        begin, end = phrases.target_offsets[pair], phrases.target_offsets[pair + 1]
        is_needed, held_out_e, held_out_fe = begin == end, np.int64(ABSENT), np.int64(ABSENT)
        if begin < end and query.first_words[np.int64(phrases.target_words[begin]) & (FIRST_WORDS - 1)]:
            held_out_e = held_out_target(query.held_out, phrases.target_words, begin, end)
            held_out_fe = held_out_pair(query.held_out, held_out_f, held_out_e)
            is_needed = held_out_e != ABSENT or (
                query.is_forced and _occurs(query.reference, phrases.target_words, begin, end)
            )
        if held_out_fe != ABSENT:
            filtered.missing[0] -= min(np.int64(phrases.joint_counts[pair]), query.held_out.pair_counts[held_out_fe])
        if _is_dropped(phrases, query, pair, held_out_fe):
            continue
        if is_needed or (is_best and not query.is_forced):
            filtered.pair[row] = pair
            filtered.held_out_target[row], filtered.held_out_pair[row] = held_out_e, held_out_fe
            filtered.sizes[3] += end - begin
            row += 1
            n_others += held_out_e == ABSENT
    filtered.pair_offsets[number + 1], filtered.sizes[2] = row, row
    return n_others


@kernel
def _has_pairs(phrases, query, source, held_out_f):
    """Whether a source phrase has pairs that leave-one-out does not drop."""
    for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
        begin, end = phrases.target_offsets[pair], phrases.target_offsets[pair + 1]
        held_out_e = held_out_target(query.held_out, phrases.target_words, begin, end)
        held_out_fe = held_out_pair(query.held_out, held_out_f, held_out_e)
        if not _is_dropped(phrases, query, pair, held_out_fe):
            return True
    return False


@inlined_kernel
def _is_dropped(phrases, query, pair, held_out_fe):
    """Whether leave-one-out drops a pair; `held_out_fe` (int64) is its number in HeldOutCounts, or ABSENT."""
    if query.mode == SINGLETONS:
        return np.int64(phrases.joint_counts[pair]) <= 1
    if query.mode != DROP or held_out_fe == ABSENT:
        return False
    return np.int64(phrases.joint_counts[pair]) <= query.held_out.pair_counts[held_out_fe]


@inlined_kernel
def _occurs(reference, words, begin, end):
    """Whether words[begin:end] occurs in the reference."""
    for start in range(reference.size - (end - begin) + 1):
        k = np.int64(0)
        while begin + k < end and reference[start + k] == words[begin + k]:
            k += 1
        if begin + k == end:
            return True
    return False
