"""Symmetrization of two directions of word alignment (Och & Ney 2003, Koehn et al. 2003), computed by Thot."""

from collections.abc import Callable, Sequence

import numpy as np
from thot.common import WordAlignmentMatrix

Matrix = WordAlignmentMatrix  # rows: source words, columns: target words

# Each function combines the matrix of the first direction with that of the second, in place.
HEURISTICS: dict[str, Callable[[Matrix, Matrix], object]] = {
    "grow_diag_final_and": Matrix.grow_diag_final_and,
    "grow_diag_final": Matrix.grow_diag_final,
    "grow_diag": Matrix.grow_diag,
    "grow": Matrix.grow,
    "och": Matrix.och_symmetrize,
    "union": Matrix.union,
    "intersection": Matrix.intersect,
}


def combined_points(sources_of: Sequence[int], targets_of: Sequence[int], heuristic: str) -> np.ndarray:
    """int32[A, 2] points (source, target) of one sentence pair, ascending: both directions combined by `heuristic`.

    sources_of: 1 + the source position for each of the m target words, 0 if it has none; targets_of: likewise the
    target positions for the n source words. Neither side may be empty.
    """
    matrix, backward = Matrix(len(targets_of), len(sources_of)), Matrix(len(sources_of), len(targets_of))
    matrix.put_list(list(sources_of))  # Thot counts positions from 1
    backward.put_list(list(targets_of))
    backward.transpose()
    HEURISTICS[heuristic](matrix, backward)
    return np.column_stack(matrix.to_numpy().nonzero()).astype(np.int32)
