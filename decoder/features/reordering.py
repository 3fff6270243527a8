"""Lexicalized reordering by phrase orientation (Koehn et al. 2005; Galley & Manning 2008, section 3)."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering_type import Kind, Reordering
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

MONOTONE, SWAP, LEFT, RIGHT = 0, 1, 2, 3  # LEFT, RIGHT: discontinuous; the order is that of ReorderingTable.counts
N_ORIENTATIONS = 4
# In hierarchical models: the phrase is monotone to the preceding block, but not to the last phrase in it
MONOTONE_TO_BLOCK = 4
N_OPTION_ORIENTATIONS = 5  # those above and MONOTONE_TO_BLOCK; translation options have a score for each
UNSEEN = np.int64(-1)  # replaces the orientation to what follows the last phrase
BACKWARD, FORWARD = np.int64(0), np.int64(1)
DIRECTIONS = ("backward", "forward")
START_BEGIN, START_END = np.int64(-1), np.int64(0)  # span of the sentence start; no phrase is swapped with it
COLUMNS: dict[Kind, tuple[int, int, int, int]] = {  # of MONOTONE, SWAP, LEFT, RIGHT within a direction
    "msd": (0, 1, 2, 2),
    "mslr": (0, 1, 2, 3),
    "monotonicity": (0, 1, 1, 1),
    "leftright": (0, 1, 1, 0),
}
ABSENT = -1
SMOOTHING = 0.5  # added to the count of each orientation when its probability is estimated


class Orientations(NamedTuple):
    """The columns and features of a reordering model whose table has C columns of estimated scores.

    Each training of learned scores appends C further columns to the table; each column is a feature.
    """

    columns: np.ndarray  # int64[2, 4], column of the table by direction and orientation; ABSENT without the direction
    features: np.ndarray  # int64[2, 4], index of the feature of the model, or ABSENT
    ln_default: np.ndarray  # float64[C], scores of pairs that the table lacks
    n_features: int  # number of features, which is that of weights; learned scores are included
    n_learned: int  # how many times C columns of learned scores follow
    is_hierarchical: bool
    keeps_blocks: bool  # whether scores depend on the blocks of all preceding phrases
    keeps_span: bool  # whether scores depend on both ends of the preceding phrase


def orientations(model: Reordering | None) -> Orientations:
    """The columns and features of a reordering model; without one, all are ABSENT."""
    columns, features = (np.full((len(DIRECTIONS), N_ORIENTATIONS), ABSENT, np.int64) for _ in range(2))
    if model is None:
        return Orientations(columns, features, np.zeros(0), 0, 0, False, False, False)
    width = model.n_columns // len(model.directions)
    for i, direction in enumerate(model.directions):
        row = DIRECTIONS.index(direction)
        columns[row] = np.array(COLUMNS[model.kind]) + i * width
        features[row] = i if model.collapse else columns[row]
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
    """Orientation of the phrase over words begin:end to the previous one over previous_begin:previous_end (all int64).

    The sentence start is the phrase START_BEGIN:START_END.
    """
    if begin == previous_end:
        return MONOTONE
    if end == previous_begin:
        return SWAP
    return RIGHT if begin > previous_end else LEFT


@inlined_kernel
def ln_orientation(ln_reordering, model: Orientations, pair, direction, orientation):
    """Estimated ln score of a pair (negative: not in the table) in an orientation; 0 if the model lacks the direction.

    `ln_reordering` is float32[P, columns], `direction` BACKWARD or FORWARD.
    """
    column = model.columns[direction, orientation]
    if column == ABSENT:
        return 0.0
    return np.float64(ln_reordering[pair, column]) if pair >= 0 else model.ln_default[column]


@inlined_kernel
def learned_orientation(ln_reordering, model: Orientations, pair, direction, orientation, layer):
    """Return (feature, learned score) of a pair in an orientation, or (ABSENT, 0) if it has none.

    `ln_reordering` is float32[P, columns], `direction` BACKWARD or FORWARD, `layer` the number of the training, from 0.
    """
    column, n_columns = model.columns[direction, orientation], model.ln_default.size
    if column == ABSENT or pair < 0:
        return np.int64(ABSENT), 0.0
    feature = model.n_features + (layer - model.n_learned) * n_columns + column
    return feature, np.float64(ln_reordering[pair, (1 + layer) * n_columns + column])


@inner_kernel
def weighted_orientation(ln_reordering, model: Orientations, weights, pair, direction, orientation):
    """Sum of all scores of a pair in an orientation times `weights` (float64[n_features]).

    `ln_reordering` is float32[P, columns], `direction` BACKWARD or FORWARD.
    """
    total, feature = 0.0, model.features[direction, orientation]
    if feature != ABSENT:
        total += weights[feature] * ln_orientation(ln_reordering, model, pair, direction, orientation)
    for layer in range(model.n_learned):
        feature, score = learned_orientation(ln_reordering, model, pair, direction, orientation, layer)
        if feature != ABSENT:
            total += weights[feature] * score
    return total
