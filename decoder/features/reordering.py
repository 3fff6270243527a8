"""Lexicalized reordering by phrase orientation (Koehn et al. 2005; Galley & Manning 2008, section 3)."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering_type import Kind, Reordering
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

MONOTONE, SWAP, LEFT, RIGHT = 0, 1, 2, 3  # LEFT, RIGHT: discontinuous; the order of ReorderingTable.counts
N_ORIENTATIONS = 4
UNSEEN = np.int64(-1)  # in place of an orientation, to what follows the last phrase
BACKWARD, FORWARD = np.int64(0), np.int64(1)
DIRECTIONS = ("backward", "forward")
START_BEGIN, START_END = np.int64(-1), np.int64(0)  # the sentence start, as a phrase nothing can be swapped with
COLUMNS: dict[Kind, tuple[int, int, int, int]] = {  # of MONOTONE, SWAP, LEFT, RIGHT within a direction
    "msd": (0, 1, 2, 2),
    "mslr": (0, 1, 2, 3),
    "monotonicity": (0, 1, 1, 1),
    "leftright": (0, 1, 1, 0),
}
ABSENT = -1
SMOOTHING = 0.5  # added to the count of each orientation where their probabilities are estimated


class Orientations(NamedTuple):
    """Which orientations a reordering model of C columns tells apart, and where their scores stand.

    Columns of learned scores follow, C for each time that some were learned; each is a feature of its own.
    """

    columns: np.ndarray  # int64[2, 4], column of the table by direction and orientation, ABSENT without the direction
    features: np.ndarray  # int64[2, 4], its place among the features of the model
    ln_default: np.ndarray  # float64[C], scores of what is no pair of the table
    n_features: int
    n_learned: int  # how often the columns follow again
    is_hierarchical: bool
    keeps_blocks: bool  # whether scores depend on the blocks of all phrases before
    keeps_span: bool  # whether they depend on both ends of the phrase before


def orientations(model: Reordering | None) -> Orientations:
    """The layout of a reordering model, or of none."""
    columns, features = (np.full((len(DIRECTIONS), N_ORIENTATIONS), ABSENT, np.int64) for _ in range(2))
    if model is None:
        return Orientations(columns, features, np.zeros(0), 0, 0, False, False, False)
    width = model.n_columns // len(model.directions)
    for place, direction in enumerate(model.directions):
        row = DIRECTIONS.index(direction)
        columns[row] = np.array(COLUMNS[model.kind]) + place * width
        features[row] = place if model.collapse else columns[row]
    is_hierarchical = model.orientation == "hier"
    return Orientations(
        columns,
        features,
        np.array(model.ln_default or [0.0] * model.n_columns),
        model.n_weights,
        model.learned,
        is_hierarchical,
        is_hierarchical and model.direction != "forward",
        not is_hierarchical or model.direction != "backward",
    )


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


@inlined_kernel
def ln_orientation(ln_reordering, model, pair, direction, which):
    """Score of a pair (negative: none of the table) in an orientation; 0 where the model has not that direction."""
    column = model.columns[direction, which]
    if column == ABSENT:
        return 0.0
    return np.float64(ln_reordering[pair, column]) if pair >= 0 else model.ln_default[column]


@inlined_kernel
def learned_orientation(ln_reordering, model, pair, direction, which, layer):
    """(feature, score) of a pair in an orientation, as it was learned; (ABSENT, 0) where nothing was.

    layer: which of the times, from 0.
    """
    column, n_columns = model.columns[direction, which], model.ln_default.size
    if column == ABSENT or pair < 0:
        return np.int64(ABSENT), 0.0
    feature = model.n_features + (layer - model.n_learned) * n_columns + column
    return feature, np.float64(ln_reordering[pair, (1 + layer) * n_columns + column])


@inner_kernel
def weighted_orientation(ln_reordering, model, weights, pair, direction, which):
    """All scores of a pair in an orientation, times `weights` (float64[n_features])."""
    total, place = 0.0, model.features[direction, which]
    if place != ABSENT:
        total += weights[place] * ln_orientation(ln_reordering, model, pair, direction, which)
    for layer in range(model.n_learned):
        feature, score = learned_orientation(ln_reordering, model, pair, direction, which, layer)
        if feature != ABSENT:
            total += weights[feature] * score
    return total
