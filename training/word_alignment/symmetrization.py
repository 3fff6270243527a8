"""Symmetrization of two directions of word alignment (Och & Ney 2003, Koehn et al. 2003), computed by Thot."""

from collections.abc import Callable

import numpy as np
from thot.common import WordAlignmentMatrix

from phrasebeam.lm.text.corpus import Corpus

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


def symmetrize(source: Corpus, target: Corpus, forward: np.ndarray, backward: np.ndarray, heuristic: str) -> np.ndarray:
    """int32[A, 3] points (pair, source position, target position), sorted, of both directions combined by `heuristic`.

    forward: int32[target words], source position of each target word, or UNLINKED (-1); backward: int32[source words],
    target position of each source word, or UNLINKED.
    """
    combine = HEURISTICS[heuristic]
    points = [np.zeros((0, 3), np.int32)]
    lengths = zip(np.diff(source.offsets).tolist(), np.diff(target.offsets).tolist())
    # Thot counts positions from 1.
    sources_of, targets_of = (forward + 1).tolist(), (backward + 1).tolist()
    s = t = 0
    for pair, (n_source, n_target) in enumerate(lengths):
        if n_source and n_target:
            matrix, backward_matrix = Matrix(n_source, n_target), Matrix(n_target, n_source)
            matrix.put_list(sources_of[t : t + n_target])
            backward_matrix.put_list(targets_of[s : s + n_source])
            backward_matrix.transpose()
            combine(matrix, backward_matrix)
            points.append(_points_of(pair, matrix.to_numpy()))
        s, t = s + n_source, t + n_target
    return np.concatenate(points)


def one_direction(links: np.ndarray, corpus: Corpus) -> np.ndarray:
    """int32[A, 3] points (pair, position in `corpus`, aligned position) of `links` (int32[words], -1: UNLINKED)."""
    pairs = np.repeat(np.arange(corpus.offsets.size - 1), np.diff(corpus.offsets))
    positions = np.arange(links.size) - corpus.offsets[pairs]
    return np.stack((pairs, positions, links), axis=1)[links >= 0].astype(np.int32)


def _points_of(pair: int, matrix: np.ndarray) -> np.ndarray:
    """int32[A, 3] points (pair, row, column) of the nonzero entries of `matrix`."""
    rows, columns = matrix.nonzero()
    points = np.empty((rows.size, 3), np.int32)
    points[:, 0], points[:, 1], points[:, 2] = pair, rows, columns
    return points
