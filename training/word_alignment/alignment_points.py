"""Word alignments of a bitext, and the Pharaoh format (`0-0 1-2 2-1`) in which most tools write them."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.extraction.pharaoh import SEPARATOR, read_alternatives
from phrasebeam.lm.text.corpus import Corpus

POINTS_AT_ONCE = 1 << 21  # processed at a time; temporary arrays take a hundred bytes per point


class Alignments(NamedTuple):
    """Word alignments of N sentence pairs; the points of pair i are points[offsets[i]:offsets[i + 1]]."""

    offsets: np.ndarray  # int64[N + 1]
    points: np.ndarray  # int32[A, 2], (source, target) positions of aligned words, from 0

    def pair(self, i: int) -> np.ndarray:
        """int32[n, 2] points of sentence pair `i`, a view."""
        return self.points[self.offsets[i] : self.offsets[i + 1]]


def runs(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Consecutive ranges first:last of sentence pairs with about POINTS_AT_ONCE points each; `offsets` int64[N + 1]."""
    ends = np.searchsorted(offsets, np.arange(0, int(offsets[-1]), POINTS_AT_ONCE))
    yield from pairwise(np.unique([0, *ends, offsets.size - 1]).tolist())


def in_target_order(alignments: Alignments) -> Alignments:
    """The same alignments without duplicates, the points of each pair ordered by target, then source position."""
    offsets = alignments.offsets.astype(np.int64, copy=False)
    points = np.ascontiguousarray(alignments.points, np.int32)
    if all(_increasing(_rows(offsets, points, run)).all() for run in runs(offsets)):
        return Alignments(offsets, points)
    ordered = [_ordered(offsets, points, run) for run in runs(offsets)]
    counts = np.concatenate([counts for counts, _ in ordered])
    ordered_points = np.concatenate([points for _, points in ordered])
    return Alignments(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), ordered_points)


def _rows(offsets: np.ndarray, points: np.ndarray, run: tuple[int, int]) -> np.ndarray:
    """int64[K, 3] (pair from run[0], target position, source position) of the points of pairs run[0]:run[1]."""
    first, last = run
    pairs = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
    return np.column_stack((pairs, points[offsets[first] : offsets[last], ::-1]))


def _ordered(offsets: np.ndarray, points: np.ndarray, run: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of distinct points (int64[N]), and these in order (int32[K, 2]), of the pairs run[0]:run[1]."""
    rows = _rows(offsets, points, run)
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    rows = rows[np.concatenate([np.ones(min(1, len(rows)), np.bool_), _increasing(rows)])]
    return np.bincount(rows[:, 0], minlength=run[1] - run[0]), rows[:, [2, 1]].astype(np.int32)


def _increasing(rows: np.ndarray) -> np.ndarray:
    """bool[K - 1]: whether row i + 1 comes after row i (int64[K, 3]) in lexicographic order."""
    step = np.diff(rows, axis=0)
    return (step[:, 0] > 0) | (step[:, 0] == 0) & ((step[:, 1] > 0) | (step[:, 1] == 0) & (step[:, 2] > 0))


def interleaved(alignments: Sequence[Alignments]) -> Alignments:
    """K alignments of the same N sentence pairs as one of K N pairs: all of the first pair, then of the second, ..."""
    if len(alignments) == 1:
        return alignments[0]
    sizes = np.column_stack([np.diff(one.offsets) for one in alignments])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes.ravel())])
    points = np.zeros((int(offsets[-1]), 2), np.int32)
    for k, one in enumerate(alignments):
        begins = np.repeat(offsets[:-1].reshape(sizes.shape)[:, k] - one.offsets[:-1], sizes[:, k])
        points[begins + np.arange(len(one.points))] = one.points
    return Alignments(offsets, points)


def read_pharaoh(path: str | Path, source: Corpus, target: Corpus) -> list[Alignments]:
    """Alignments of a bitext in target order, from a file with a line per sentence pair; several are set apart by |||.

    Raises FormatError, naming the line, for another number of lines or of alignments, other formats, and positions out
    of bounds.
    """
    n_source, n_target = np.diff(source.offsets).tolist(), np.diff(target.offsets).tolist()
    flat, offsets = [array("i")], [array("q", [0])]
    for i, line in enumerate(read_lines(path)):
        if i == len(n_source):
            raise FormatError(path, f"more lines than the {len(n_source)} sentence pairs that it aligns", i + 1)
        alternatives = read_alternatives(line, n_source[i], n_target[i], path, i + 1)
        if i == 0:
            flat, offsets = [array("i") for _ in alternatives], [array("q", [0]) for _ in alternatives]
        elif len(alternatives) != len(flat):
            found = f"{len(alternatives)} alignments of a sentence pair, expected {len(flat)} as in line 1"
            raise FormatError(path, found, i + 1)
        for points, numbers, ends in zip(alternatives, flat, offsets):
            numbers.extend(points)
            ends.append(len(numbers) // 2)
    if len(offsets[0]) - 1 != len(n_source):
        found = f"{len(offsets[0]) - 1} lines for {len(n_source)} sentence pairs; expected one for each"
        raise FormatError(path, found)
    return [
        in_target_order(Alignments(np.array(ends, np.int64), np.array(numbers, np.int32).reshape(-1, 2)))
        for numbers, ends in zip(flat, offsets)
    ]


def write_pharaoh(alignments: Sequence[Alignments], path: str | Path) -> None:
    """Write one line per sentence pair, points in their order; several alignments are set apart by |||."""
    with atomic_file(path) as file:
        for i in range(alignments[0].offsets.size - 1):
            lines = (" ".join(f"{s}-{t}" for s, t in one.pair(i).tolist()) for one in alignments)
            file.write((f" {SEPARATOR} ".join(lines) + "\n").encode("ascii"))
