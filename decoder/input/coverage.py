"""The source words that a hypothesis has translated: the first gap, and a 64-bit window from there.

Bit k of the window says whether word first_gap + k is covered; bit 0 is never set. The pair is exact for any sentence
length as long as no phrase ends more than 64 words after the first gap.
"""

import numpy as np

from phrasebeam.kernels.jit import kernel

COVERAGE_WINDOW = 64  # words from the first gap on

ONE = np.uint64(1)
NONE = np.uint64(0)  # no bit set


@kernel
def is_covered(first_gap, window, position):
    """Whether the word at `position` (int64) is covered; it lies within the `window` (uint64) from `first_gap` on."""
    return (window >> np.uint64(position - first_gap)) & ONE != NONE


@kernel
def cover(first_gap, window, begin, end):
    """(first gap, window) after covering the words begin:end, which must be free and lie within the window.

    `first_gap` is int64, `window` uint64; both are the values before.
    """
    length = np.uint64(end - begin)
    window |= ((ONE << length) - ONE) << np.uint64(begin - first_gap)
    while window & ONE != NONE:
        window >>= ONE
        first_gap += 1
    return first_gap, window
