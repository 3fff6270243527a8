"""Distortion: the length of jumps, and that which a partial translation makes certain (Moore & Quirk 2007)."""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def jump_length(distances, previous_end, begin):
    """Words (int64) between `previous_end`, of a phrase, and the `begin` of the next, whichever comes first.

    `distances` (int32): see SourcePaths; without any, the difference of the positions.
    """
    if distances.size == 0:
        return abs(begin - previous_end)
    return np.int64(distances[min(previous_end, begin), max(previous_end, begin)])


@kernel
def early_distortion(first_gap, previous_end, begin, end):
    """Minus the distortion (words) that a phrase over begin:end makes certain (Moore & Quirk 2007, 3.1; as in Moses).

    `first_gap` is that of the coverage before the phrase, `previous_end` the end of the previous phrase; all are int64.
    A phrase that leaves a gap pays at once for the jump back to it.
    """
    if begin == first_gap:
        return 0.0
    length = end - begin
    if end < previous_end:
        return -2.0 * length
    return -2.0 * (begin - max(first_gap, previous_end) + length)
