"""What reordering costs: the jump between phrases (Koehn et al. 2003), or all of it as soon as it is certain."""

from phrasebeam.kernels.jit import kernel


@kernel
def early_distortion(first_gap, previous_end, begin, end):
    """Minus the jumps that words begin:end make certain (Moore & Quirk 2007, section 3.1; as in Moses).

    `first_gap` is that of the coverage before, `previous_end` the end of the phrase before; spans are half open. A
    phrase that leaves a gap pays at once for the way back to it.
    """
    if begin == first_gap:
        return 0.0
    length = end - begin
    if end < previous_end:
        return -2.0 * length
    return -2.0 * (begin - max(first_gap, previous_end) + length)
