"""Occurrences of phrase pairs in a bitext; their last number packs lengths and orientations.

A row (int32[4]) has the number of the sentence pair, the first source word, the first target word, and
source length | target length << 8 | orientation to the previous phrase << 16 | to the next << 18.
"""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel

PACKED = 3  # column of the packed number
LENGTH_MASK, ORIENTATION_MASK = 255, 3
TARGET_SHIFT, PREVIOUS_SHIFT, NEXT_SHIFT = 8, 16, 18


@inlined_kernel
def packed_lengths(source_length, target_length):
    """The packed number (int64) of `source_length` and `target_length` (int64), without orientations."""
    return source_length | target_length << TARGET_SHIFT


@inlined_kernel
def with_orientations(occurrence, previous, following):
    """The packed number (int64) of `occurrence` (int32[4], still without orientations) with its orientations.

    `previous` and `following` (int64) are the orientations to the previous and to the next phrase.
    """
    return np.int64(occurrence[PACKED]) | previous << PREVIOUS_SHIFT | following << NEXT_SHIFT


@inlined_kernel
def source_length(occurrence):
    """Number of source words (int64) of `occurrence` (int32[4])."""
    return np.int64(occurrence[PACKED]) & LENGTH_MASK


@inlined_kernel
def target_length(occurrence):
    """Number of target words (int64) of `occurrence` (int32[4])."""
    return np.int64(occurrence[PACKED]) >> TARGET_SHIFT & LENGTH_MASK


@inlined_kernel
def orientations(occurrence):
    """The orientations of `occurrence` (int32[4]) to the previous and to the next phrase (int64)."""
    packed = np.int64(occurrence[PACKED])
    return packed >> PREVIOUS_SHIFT & ORIENTATION_MASK, packed >> NEXT_SHIFT & ORIENTATION_MASK


def source_lengths(occurrences: np.ndarray) -> np.ndarray:
    """int64[K] numbers of source words of `occurrences` (int32[K, 4])."""
    return (occurrences[:, PACKED] & LENGTH_MASK).astype(np.int64)


def target_lengths(occurrences: np.ndarray) -> np.ndarray:
    """int64[K] numbers of target words of `occurrences` (int32[K, 4])."""
    return (occurrences[:, PACKED] >> TARGET_SHIFT & LENGTH_MASK).astype(np.int64)


def all_orientations(occurrences: np.ndarray) -> list[np.ndarray]:
    """The orientations of `occurrences` (int32[K, 4]) to the previous and to the next phrase, int64[K] each."""
    packed = occurrences[:, PACKED].astype(np.int64)
    return [packed >> shift & ORIENTATION_MASK for shift in (PREVIOUS_SHIFT, NEXT_SHIFT)]
