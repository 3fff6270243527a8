"""Phrase pairs of a sentence pair that enough of its word alignments allow.

A bitext with K alignments has K copies of each sentence pair, one after the other, each with its own links. A pair of
spans is taken once, however many of them allow it, as an occurrence in the first copy that does: so counts stay whole
numbers, as discounts and leave-one-out need them. With K = 1 this is extraction as everywhere else.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.occurrences import PACKED, TARGET_SHIFT
from phrasebeam.decoder.extraction.orientations import Corners, orient
from phrasebeam.decoder.extraction.pairs import AlignedBitext, extract_pair
from phrasebeam.kernels.jit import inner_kernel

LENGTHS_MASK, LENGTHS_BITS = (1 << 2 * TARGET_SHIFT) - 1, 2 * TARGET_SHIFT
POSITION_BITS = 23  # of a word in its sentence


class Agreement(NamedTuple):
    """How many alignments a sentence pair has, and how many of them have to allow a phrase pair."""

    alignments: int = 1
    least: int = 1


ONE_ALIGNMENT = Agreement()


@inner_kernel
def count_pairs(bitext: AlignedBitext, i, agreement: Agreement, max_length, occurrences):
    """Number of phrase pairs of sentence pair i by each of its alignments, added up: what `extract_agreed` writes to.

    `occurrences` is an int32[0, 4].
    """
    n = np.int64(0)
    for copy in range(i * agreement.alignments, (i + 1) * agreement.alignments):
        n = extract_pair(bitext, copy, max_length, occurrences, n)
    return n


@inner_kernel
def extract_agreed(bitext: AlignedBitext, i, agreement: Agreement, max_length, kind, corners: Corners, occurrences, n):
    """Write the phrase pairs of sentence pair i with orientations to `occurrences` from row n on; the row behind them.

    Columns are those of `extract_pair` and `orient`. The rows up to n + `count_pairs` are overwritten.
    """
    first = n
    for copy in range(i * agreement.alignments, (i + 1) * agreement.alignments):
        before = n
        n = extract_pair(bitext, copy, max_length, occurrences, n)
        orient(bitext, copy, kind, corners, occurrences[before:n])
    if agreement.alignments == 1:
        return n
    return first + _keep_agreed(occurrences[first:n], agreement.least)


@inner_kernel
def _keep_agreed(occurrences, least):
    """Keep the first of each `least` or more occurrences of the same spans, in their order; their number."""
    n = occurrences.shape[0]
    keys = np.empty(n, np.int64)
    for k in range(n):
        lengths = np.int64(occurrences[k, PACKED]) & LENGTHS_MASK
        spans = np.int64(occurrences[k, 1]) << POSITION_BITS | np.int64(occurrences[k, 2])
        keys[k] = spans << LENGTHS_BITS | lengths
    order = np.argsort(keys, kind="mergesort")
    is_kept = np.zeros(n, np.bool_)
    begin = 0
    for end in range(1, n + 1):
        if end == n or keys[order[end]] != keys[order[begin]]:
            is_kept[order[begin]] = end - begin >= least
            begin = end
    n_kept = 0
    for k in range(n):
        if is_kept[k]:
            for column in range(occurrences.shape[1]):
                occurrences[n_kept, column] = occurrences[k, column]
            n_kept += 1
    return n_kept
