"""Phrase pairs of a sentence pair that enough of its word alignments allow.

A bitext with K alignments has K consecutive copies of each sentence pair, each with its own links. A pair of spans is
counted once, however many alignments allow it, as an occurrence in the first copy that allows it: counts stay whole
numbers, as discounts and leave-one-out require. With K = 1 this is the usual extraction.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import source_length, target_length
from phrasebeam.decoder.extraction.orientations import orient
from phrasebeam.decoder.extraction.pairs import AlignedBitext, extract_pair
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel


class Agreement(NamedTuple):
    """The number of alignments of a sentence pair, and how many of them must allow a phrase pair."""

    alignments: int = 1
    least: int = 1


ONE_ALIGNMENT = Agreement()


class Votes(NamedTuple):
    """Counters of the alignments that allow the same pair of spans, for at most R rows of a sentence pair."""

    slots: np.ndarray  # int64[S], a hash table of rows; S is a power of two, above 2 R
    counts: np.ndarray  # int64[R], for a row that is the first of its spans, else 0


def new_votes(most_rows: int, agreement: Agreement) -> Votes:
    """Votes for sentence pairs with up to `most_rows` phrase pairs by all alignments; empty for one alignment."""
    n_rows = most_rows if agreement.alignments > 1 else 0
    return Votes(np.zeros(2 << (2 * n_rows).bit_length(), np.int64), np.zeros(n_rows, np.int64))


@inner_kernel
def count_pairs(bitext: AlignedBitext, i, agreement: Agreement, max_length, occurrences):
    """Number of phrase pairs of sentence pair i, summed over its alignments: the rows that `extract_agreed` needs.

    `max_length` (int64): most words a side; `occurrences` is an int32[0, 4].
    """
    n = np.int64(0)
    for copy in range(i * agreement.alignments, (i + 1) * agreement.alignments):
        n = extract_pair(bitext, copy, max_length, occurrences, n)
    return n


@inner_kernel
def extract_agreed(bitext: AlignedBitext, i, agreement: Agreement, max_length, kind, scratch, occurrences, n):
    """Write the phrase pairs of sentence pair i with orientations to `occurrences` from row n on; return the next row.

    Columns are those of `extract_pair` and `orient`. The rows up to n + `count_pairs` are overwritten, as is `scratch`,
    (Corners, Votes). `max_length` (int64): most words a side; `kind` (int64) is WORD, PHRASE or HIER.
    """
    corners, votes = scratch
    first = n
    for copy in range(i * agreement.alignments, (i + 1) * agreement.alignments):
        before = n
        n = extract_pair(bitext, copy, max_length, occurrences, n)
        orient(bitext, copy, kind, corners, occurrences[before:n])
    if agreement.alignments == 1:
        return n
    return first + _keep_agreed(occurrences[first:n], agreement.least, votes)


@inner_kernel
def _keep_agreed(occurrences, least, votes):
    """Keep the first of each `least` or more occurrences of the same spans, in their order; return the number kept."""
    n_rows = np.int64(occurrences.shape[0])
    n_slots = np.int64(2)
    while n_slots <= 2 * n_rows:
        n_slots *= 2
    for slot in range(n_slots):
        votes.slots[slot] = EMPTY
    for k in range(n_rows):
        slot = _slot_of(occurrences, k, votes.slots, n_slots)
        votes.counts[k] = 0
        if votes.slots[slot] == EMPTY:
            votes.slots[slot] = k
        votes.counts[votes.slots[slot]] += 1
    n_kept = np.int64(0)
    for k in range(n_rows):
        if votes.counts[k] >= least:
            for column in range(occurrences.shape[1]):
                occurrences[n_kept, column] = occurrences[k, column]
            n_kept += 1
    return n_kept


@inlined_kernel
def _slot_of(occurrences, k, slots, n_slots):
    """The slot (int64) of the spans of row k: it contains a row with the same spans, or none."""
    first, begin = np.int64(occurrences[k, 1]), np.int64(occurrences[k, 2])
    lengths = source_length(occurrences[k]) * 256 + target_length(occurrences[k])
    slot = first_slot(mix(combine(combine(combine(START, first), begin), lengths)), n_slots)
    while slots[slot] != EMPTY and not _has_same_spans(occurrences, slots[slot], k):
        slot = next_slot(slot, n_slots)
    return slot


@inlined_kernel
def _has_same_spans(occurrences, i, k):
    """Whether rows i and k have the same source words and the same target words, by their positions."""
    if occurrences[i, 1] != occurrences[k, 1] or occurrences[i, 2] != occurrences[k, 2]:
        return False
    same_source = source_length(occurrences[i]) == source_length(occurrences[k])
    return same_source and target_length(occurrences[i]) == target_length(occurrences[k])
