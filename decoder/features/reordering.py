"""Lexicalized reordering by phrase orientation (Koehn et al. 2005; Galley & Manning 2008, section 3)."""

from lm.jit import kernel

MONOTONE, SWAP, LEFT, RIGHT = 0, 1, 2, 3
N_ORIENTATIONS = 4


@kernel
def orientation(previous_begin, previous_end, begin, end):
    """How the phrase over words begin:end lies to the phrase translated before it; both spans are half open.

    The sentence start is a phrase over -1:0 that nothing can be swapped with.
    """
    if begin == previous_end:
        return MONOTONE
    if end == previous_begin:
        return SWAP
    return RIGHT if begin > previous_end else LEFT


@kernel
def orientation_column(direction, which, n_orientations):
    """Column of a reordering table for `direction` (0 backward, 1 forward); msd knows one discontinuous orientation."""
    return direction * n_orientations + min(which, n_orientations - 1)
