"""The phrase pairs of one sentence pair with their orientations, extracted as in training."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.extraction.orientations import new_corners, orient
from phrasebeam.decoder.extraction.pairs import AlignedBitext, extract_pair
from phrasebeam.kernels.jit import kernel

NO_OCCURRENCES = np.zeros((0, 4), np.int32)
ZERO = np.int64(0)


@kernel
def _count(bitext, max_length, occurrences):
    return extract_pair(bitext, ZERO, max_length, occurrences, ZERO)


@kernel
def _extract(bitext, max_length, kind, corners, occurrences):
    extract_pair(bitext, ZERO, max_length, occurrences, ZERO)
    orient(bitext, ZERO, kind, corners, occurrences)


def sentence_occurrences(
    source: np.ndarray, target: np.ndarray, points: Sequence[tuple[int, int]], max_length: int, kind: int
) -> np.ndarray:
    """int32[K, 4] phrase pairs of one sentence pair, with the columns of `extract_pair` and `orient`.

    `source` and `target` (int32[n], int32[m]) are word ids, `points` (source, target) positions of linked words in any
    order, of which repeated ones count once, `kind` is WORD, PHRASE or HIER.
    """
    bitext = _one_pair(source, target, points)
    occurrences = np.zeros((_count(bitext, max_length, NO_OCCURRENCES), 4), np.int32)
    _extract(bitext, max_length, kind, new_corners(bitext), occurrences)
    return occurrences


def _one_pair(source: np.ndarray, target: np.ndarray, points: Sequence[tuple[int, int]]) -> AlignedBitext:
    links = np.array(sorted(set(points), key=lambda point: point[::-1]), np.int32).reshape(-1, 2)
    before = [
        np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(links[:, side], minlength=words.size))])
        for side, words in enumerate((source, target))
    ]
    offsets = (np.array([0, words.size], np.int64) for words in (source, target))
    return AlignedBitext(next(offsets), source, next(offsets), target, links, before[0], before[1])
