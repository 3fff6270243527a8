"""The distortion that a partial translation makes certain (Moore & Quirk 2007)."""

from phrasebeam.kernels.jit import kernel


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
