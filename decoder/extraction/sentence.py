"""The phrase pairs of one sentence pair with their orientations, extracted as in training."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.extraction.agreement import Agreement, count_pairs, extract_agreed, new_votes
from phrasebeam.decoder.extraction.orientations import new_corners
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.kernels.jit import kernel

NO_OCCURRENCES = np.zeros((0, 4), np.int32)
ZERO = np.int64(0)

Points = Sequence[tuple[int, int]]  # (source, target) positions of linked words


@kernel
def _count(bitext, agreement, max_length, occurrences):
    return count_pairs(bitext, ZERO, agreement, max_length, occurrences)


@kernel
def _extract(bitext, agreement, max_length, kind, scratch, occurrences):
    return extract_agreed(bitext, ZERO, agreement, max_length, kind, scratch, occurrences, ZERO)


def sentence_occurrences(
    source: np.ndarray, target: np.ndarray, alignments: Sequence[Points], max_length: int, kind: int, least: int = 1
) -> np.ndarray:
    """int32[K, 4] phrase pairs of one sentence pair, with the columns of `extract_pair` and `orient`.

    `source` and `target` (int32[n], int32[m]) are word ids. Alignments have points in any order; repeated points count
    once. At least `least` alignments allow each phrase pair; its sentence number is the index of the first of these.
    `kind` is WORD, PHRASE or HIER.
    """
    agreement, bitext = Agreement(len(alignments), least), _copies(source, target, alignments)
    occurrences = np.zeros((_count(bitext, agreement, max_length, NO_OCCURRENCES), 4), np.int32)
    scratch = new_corners(bitext), new_votes(len(occurrences), agreement)
    n = _extract(bitext, agreement, max_length, kind, scratch, occurrences)
    return occurrences[:n]


def _copies(source: np.ndarray, target: np.ndarray, alignments: Sequence[Points]) -> AlignedBitext:
    ordered = [sorted(set(points), key=lambda point: point[::-1]) for points in alignments]
    links = np.array([point for points in ordered for point in points], np.int32).reshape(-1, 2)
    copies = np.repeat(np.arange(len(ordered)), [len(points) for points in ordered])
    n = len(ordered)
    offsets, tokens, before = [], [], []
    for side, words in enumerate((source, target)):
        offsets.append(np.arange(n + 1, dtype=np.int64) * words.size)
        tokens.append(np.tile(words, n))
        linked = np.bincount(copies * words.size + links[:, side], minlength=words.size * n)
        before.append(np.concatenate([np.zeros(1, np.int64), np.cumsum(linked)]))
    return AlignedBitext(offsets[0], tokens[0], offsets[1], tokens[1], links, before[0], before[1])
