"""Occurrences of phrase pairs in a bitext, and what the last of their four numbers packs.

A row (int32[4]) has the number of the sentence pair, the first source word, the first target word, and
source length | target length << 8 | orientation to the previous phrase << 16 | to the next << 18.
"""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel

PACKED = 3  # place in the row
LENGTH_MASK, ORIENTATION_MASK = 255, 3
TARGET_SHIFT, PREVIOUS_SHIFT, NEXT_SHIFT = 8, 16, 18


@inlined_kernel
def packed_lengths(source_length, target_length):
    """What a row packs before its orientations are known; int64 both."""
    return source_length | target_length << TARGET_SHIFT


@inlined_kernel
def with_orientations(occurrence, previous, following):
    """What a row packs once orientations (int64) are known as well."""
    return np.int64(occurrence[PACKED]) | previous << PREVIOUS_SHIFT | following << NEXT_SHIFT


@inlined_kernel
def source_length(occurrence):
    """Source words (int64) of one row."""
    return np.int64(occurrence[PACKED]) & LENGTH_MASK


@inlined_kernel
def target_length(occurrence):
    """Target words (int64) of one row."""
    return np.int64(occurrence[PACKED]) >> TARGET_SHIFT & LENGTH_MASK


@inlined_kernel
def orientations(occurrence):
    """(orientation to the previous phrase, to the next; int64 both) of one row."""
    packed = np.int64(occurrence[PACKED])
    return packed >> PREVIOUS_SHIFT & ORIENTATION_MASK, packed >> NEXT_SHIFT & ORIENTATION_MASK


def source_lengths(occurrences: np.ndarray) -> np.ndarray:
    """int64[K] source words of all rows (int32[K, 4])."""
    return (occurrences[:, PACKED] & LENGTH_MASK).astype(np.int64)


def target_lengths(occurrences: np.ndarray) -> np.ndarray:
    """int64[K] target words of all rows (int32[K, 4])."""
    return (occurrences[:, PACKED] >> TARGET_SHIFT & LENGTH_MASK).astype(np.int64)


def all_orientations(occurrences: np.ndarray) -> list[np.ndarray]:
    """int64[K] orientations to the previous phrase, and int64[K] to the next, of all rows (int32[K, 4])."""
    packed = occurrences[:, PACKED].astype(np.int64)
    return [packed >> shift & ORIENTATION_MASK for shift in (PREVIOUS_SHIFT, NEXT_SHIFT)]
