"""Which pairs of the phrase table a sentence needs: those of its phrases, or only what occurs in a reference.

Where a table limit keeps the K best pairs of a source phrase, and its own counts change the scores of some, the K best
are among these and the K best others: all others change by the same amount. So somewhat more than K are ranked for the
model as it is, which is remembered from sentence to sentence, and the rest is left out.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.scratch_arrays import ScratchArrays
from phrasebeam.decoder.extraction.occurrences import source_length
from phrasebeam.decoder.held_out.leave_one_out import (
    DROP,
    HeldOutCounts,
    held_out_pair,
    held_out_source,
    held_out_target,
)
from phrasebeam.decoder.options.candidates import choose
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source, n_slots, phrase_hash
from phrasebeam.kernels.hashing import first_slot, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

FIRST_WORDS = 1 << 12
MORE = 12  # pairs that are ranked beyond the table limit
ALL = -1


class FilterQuery(NamedTuple):
    """What is wanted of the model's table."""

    words: np.ndarray  # int32[n], source ids of the sentence
    longest: int  # source phrase, in words
    reference: np.ndarray  # int32[m], target ids
    first_words: np.ndarray  # bool[FIRST_WORDS], whether the reference holds a word with these low bits
    is_forced: bool  # only pairs whose target phrase occurs in the reference
    held_out: HeldOutCounts
    mode: np.int64  # see MODES
    table_limit: int  # pairs of a source phrase that will be kept, 0 for all
    seen: np.ndarray  # int64[8], room for counts of orientations


class FilteredPairs(NamedTuple):
    """Of the model's table, N source phrases and P pairs that the sentence needs."""

    source: np.ndarray  # int64[N]
    begin: np.ndarray  # int64[N], an occurrence in the sentence
    end: np.ndarray  # int64[N]
    held_out_source: np.ndarray  # int64[N], see HeldOutCounts
    pair_offsets: np.ndarray  # int64[N + 1], into `pair`
    pair: np.ndarray  # int64[P]
    held_out_target: np.ndarray  # int32[P]
    held_out_pair: np.ndarray  # int32[P]
    best: np.ndarray  # int64[M], best pairs of a source phrase, counted from its first, ascending
    slots: np.ndarray  # int64[T], hash table of the source phrases as PhraseTable has it
    sizes: np.ndarray  # int64[4]: source phrases, words of these, pairs, words of their target phrases
    missing: np.ndarray  # int64[1], phrase pairs of `own` that the table has not so often


def new_filtered_pairs(query: FilterQuery, n_candidates: int, scratch: ScratchArrays) -> FilteredPairs:
    """Nothing chosen yet of the phrases of the sentence, which have so many pairs."""
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
def count_candidates(phrases, words, longest):
    """How many pairs the phrases of a sentence have; those of a phrase that occurs twice count twice."""
    count = np.int64(0)
    for begin in range(words.size):
        for end in range(begin + 1, min(begin + longest, words.size) + 1):
            source = find_source(phrases, words, begin, end)
            if source != ABSENT:
                count += phrases.pair_offsets[source + 1] - phrases.pair_offsets[source]
    return count


@kernel
def filter_pairs(lookup, query, filtered):
    """Fill `chosen`, which is new, from the tables of `lookup`, whose limit is that of `wanted` and MORE, or 0."""
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
            # A word that has pairs, though none that yields the reference, must not pass for one that is no phrase.
            if n_pairs > 0 or (
                end - begin == 1 and _has_pairs(phrases, query, source, filtered.held_out_source[number])
            ):
                slots[slot] = number
                number += 1
                filtered.sizes[1] += end - begin
    filtered.sizes[0] = number


@inner_kernel
def _filter_pairs_of(lookup, query, filtered, number):
    """Choose among the pairs of source phrase `number`; how many there are."""
    phrases, source, n_best = lookup.tables.phrases, filtered.source[number], np.int64(ALL)
    n_pairs = phrases.pair_offsets[source + 1] - phrases.pair_offsets[source]
    if 0 < lookup.limit < n_pairs:
        n_best = choose(source, lookup)
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
    """Choose the `n_best` pairs that were ranked, or ALL, and those with own counts; how many have none."""
    source, row, held_out_f = filtered.source[number], filtered.pair_offsets[number], filtered.held_out_source[number]
    first, next_best, n_others = phrases.pair_offsets[source], np.int64(0), np.int64(0)
    for pair in range(first, phrases.pair_offsets[source + 1]):
        is_best = n_best == ALL or (next_best < n_best and filtered.best[next_best] == pair - first)
        next_best += is_best
        begin, end = phrases.target_offsets[pair], phrases.target_offsets[pair + 1]
        is_kept, target, both = begin == end, np.int64(ABSENT), np.int64(ABSENT)
        if begin < end and query.first_words[np.int64(phrases.target_words[begin]) & (FIRST_WORDS - 1)]:
            target = held_out_target(query.held_out, phrases.target_words, begin, end)
            both = held_out_pair(query.held_out, held_out_f, target)
            is_kept = target != ABSENT or (
                query.is_forced and _occurs(query.reference, phrases.target_words, begin, end)
            )
        if both != ABSENT:
            seen, held_out = np.int64(phrases.joint_counts[pair]), query.held_out.pair_counts[both]
            filtered.missing[0] -= min(seen, held_out)
            if seen <= held_out and query.mode == DROP:
                continue
        if is_kept or (is_best and not query.is_forced):
            filtered.pair[row], filtered.held_out_target[row], filtered.held_out_pair[row] = pair, target, both
            filtered.sizes[3] += end - begin
            row += 1
            n_others += target == ABSENT
    filtered.pair_offsets[number + 1], filtered.sizes[2] = row, row
    return n_others


@kernel
def _has_pairs(phrases, query, source, held_out_f):
    """Whether a source phrase has pairs that are not left out."""
    for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
        begin, end = phrases.target_offsets[pair], phrases.target_offsets[pair + 1]
        both = held_out_pair(
            query.held_out, held_out_f, held_out_target(query.held_out, phrases.target_words, begin, end)
        )
        is_dropped = both != ABSENT and query.mode == DROP
        if not is_dropped or np.int64(phrases.joint_counts[pair]) > query.held_out.pair_counts[both]:
            return True
    return False


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
