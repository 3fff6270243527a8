"""Lexicalized reordering by phrase orientation (Koehn et al. 2005; Galley & Manning 2008, section 3)."""

import numpy as np

from lm.jit import kernel

MONOTONE, SWAP, LEFT, RIGHT = 0, 1, 2, 3  # LEFT, RIGHT: discontinuous; the order of ReorderingTable.counts
N_ORIENTATIONS = 4
BACKWARD, FORWARD = np.int64(0), np.int64(1)
START_BEGIN, START_END = np.int64(-1), np.int64(0)  # the sentence start, as a phrase nothing can be swapped with


@kernel
def orientation(previous_begin, previous_end, begin, end):
    """How the phrase over words begin:end lies to the phrase translated before it; half-open spans.

    The sentence start is the phrase START_BEGIN:START_END.
    """
    if begin == previous_end:
        return MONOTONE
    if end == previous_begin:
        return SWAP
    return RIGHT if begin > previous_end else LEFT


@kernel
def orientation_column(direction, which, n_orientations):
    """Column of a reordering table for a direction, BACKWARD or FORWARD; msd knows one discontinuous orientation."""
    return direction * n_orientations + min(which, n_orientations - 1)
