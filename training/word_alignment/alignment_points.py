"""Word alignments of a bitext, and the Pharaoh format (`0-0 1-2 2-1`) in which most tools write them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_blocks
from phrasebeam.decoder.extraction.pharaoh import SEPARATOR, read_alternatives
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.lm.text.fields import NONE, line_end, read_points, split_fields

POINTS_AT_ONCE = 1 << 21  # points that are processed at a time; temporary arrays take a hundred bytes per point

MOST_DIGITS = np.int64(9)  # of a position


class Alignments(NamedTuple):
    """Word alignments of N sentence pairs; the points of pair i are points[offsets[i]:offsets[i + 1]]."""

    offsets: np.ndarray  # int64[N + 1]
    points: np.ndarray  # int32[A, 2], (source, target) positions of aligned words, from 0

    def pair(self, i: int) -> np.ndarray:
        """The points of sentence pair `i` (int32[n, 2]), a view."""
        return self.points[self.offsets[i] : self.offsets[i + 1]]


def runs(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield successive ranges first:last of pairs with about POINTS_AT_ONCE points each; `offsets`: int64[N + 1]."""
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
    """The points of pairs run[0]:run[1], as int64[K, 3]: pair minus run[0], target position, source position."""
    first, last = run
    pairs = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
    return np.column_stack((pairs, points[offsets[first] : offsets[last], ::-1]))


def _ordered(offsets: np.ndarray, points: np.ndarray, run: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The number of distinct points of each of the pairs run[0]:run[1] (int64[N]), and these, sorted (int32[K, 2])."""
    rows = _rows(offsets, points, run)
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    rows = rows[np.concatenate([np.ones(min(1, len(rows)), np.bool_), _increasing(rows)])]
    return np.bincount(rows[:, 0], minlength=run[1] - run[0]), rows[:, [2, 1]].astype(np.int32)


def _increasing(rows: np.ndarray) -> np.ndarray:
    """Whether row i + 1 is lexicographically greater than row i (bool[K - 1]); `rows`: int64[K, 3]."""
    step = np.diff(rows, axis=0)
    return (step[:, 0] > 0) | (step[:, 0] == 0) & ((step[:, 1] > 0) | (step[:, 1] == 0) & (step[:, 2] > 0))


def interleaved(alignments: Sequence[Alignments]) -> Alignments:
    """Merge K alignments of the same N sentence pairs to one of K * N pairs.

    It has all alignments of the first pair, then all of the second one, and so on.
    """
    if len(alignments) == 1:
        return alignments[0]
    sizes = np.column_stack([np.diff(one.offsets) for one in alignments])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes.ravel())])
    points = np.zeros((int(offsets[-1]), 2), np.int32)
    for k, one in enumerate(alignments):
        begins = np.repeat(offsets[:-1].reshape(sizes.shape)[:, k] - one.offsets[:-1], sizes[:, k])
        points[begins + np.arange(len(one.points))] = one.points
    return Alignments(offsets, points)


@kernel
def _read_lines(text, place, fields, sizes, offsets, points):
    """Read the lines of `text` (uint8[n]) from place[0] on to `points` (int32[..., 2]); return whether all were read.

    `place` (int64[2]): the next byte, and the number of lines read; both are advanced. Each line has K alignments,
    where `fields` (int64[K + 2, 2]) is work space. sizes[i] (int64[N, 2]): lengths of both sentences of line i.
    `offsets` (int64[...]): gets the end of each alignment in `points`, line by line.
    """
    n_alternatives = fields.shape[0] - 2
    while place[0] < text.size:
        end, line = line_end(text, place[0]), place[1]
        if line == sizes.shape[0] or split_fields(text, place[0], end, fields) != n_alternatives:
            return False
        for k in range(n_alternatives):
            first = offsets[line * n_alternatives + k]
            n_points = read_points(text, fields[k, 0], fields[k, 1], points, first, MOST_DIGITS, True)
            if n_points == NONE:
                return False
            for i in range(first, first + n_points):
                if points[i, 0] >= sizes[line, 0] or points[i, 1] >= sizes[line, 1]:
                    return False
            offsets[line * n_alternatives + k + 1] = first + n_points
        place[0], place[1] = end, line + 1
    return True


def read_pharaoh(path: str | Path, source: Corpus, target: Corpus) -> list[Alignments]:
    """Read alignments of a bitext, in target order, from a file with a line per sentence pair.

    ||| separates several alignments of a pair. Raises FormatError, with the number of the line, for a wrong number of
    lines or of alignments, for other formats, and for positions out of bounds.
    """
    sizes = np.column_stack((np.diff(source.offsets), np.diff(target.offsets)))
    n_lines, n_alternatives = 0, 1
    counts, points = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int32)]
    for block in read_blocks(path):
        if n_lines == 0:
            n_alternatives = block.partition(b"\n")[0].count(SEPARATOR.encode()) + 1
        text, place = np.frombuffer(bytearray(block), np.uint8), np.zeros(2, np.int64)
        offsets = np.zeros((block.count(b"\n") + 1) * n_alternatives + 1, np.int64)
        found, fields = np.empty((len(block) // 2 + 1, 2), np.int32), np.empty((n_alternatives + 2, 2), np.int64)
        if not _read_lines(text, place, fields, sizes[n_lines:], offsets, found):
            line = block[place[0] :].partition(b"\n")[0].decode("utf-8").rstrip("\r")
            _refuse(line, path, n_lines + int(place[1]), sizes, n_alternatives)
        n_lines += int(place[1])
        counts.append(np.diff(offsets[: place[1] * n_alternatives + 1]))
        points.append(found[: counts[-1].sum()].copy())
    if n_lines != len(sizes):
        raise FormatError(path, f"{n_lines} lines for {len(sizes)} sentence pairs; expected one for each")
    return _alternatives(np.concatenate(counts), np.concatenate(points), n_alternatives)


def _refuse(line: str, path: str | Path, i: int, sizes: np.ndarray, n_alternatives: int) -> NoReturn:
    """Raise the FormatError for the wrong line `i` of the file, counted from 0."""
    if i == len(sizes):
        raise FormatError(path, f"more lines than the {len(sizes)} sentence pairs that it aligns", i + 1)
    n_found = len(read_alternatives(line, int(sizes[i, 0]), int(sizes[i, 1]), path, i + 1))
    found = f"{n_found} alignments of a sentence pair, expected {n_alternatives} as in line 1"
    raise FormatError(path, found, i + 1)


def _alternatives(counts: np.ndarray, points: np.ndarray, n_alternatives: int) -> list[Alignments]:
    """Separate the K alignments of N pairs; `counts`: int64[N * K], number of points of each alignment of each pair."""
    alternative_of = np.repeat(np.arange(counts.size) % n_alternatives, counts)
    alignments = []
    for k in range(n_alternatives):
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[k::n_alternatives])])
        alignments.append(in_target_order(Alignments(offsets, points[alternative_of == k])))
    return alignments


def write_pharaoh(alignments: Sequence[Alignments], path: str | Path) -> None:
    """Write one line per sentence pair, with points in their order; ||| separates several alignments."""
    with atomic_file(path) as file:
        for i in range(alignments[0].offsets.size - 1):
            lines = (" ".join(f"{s}-{t}" for s, t in one.pair(i).tolist()) for one in alignments)
            file.write((f" {SEPARATOR} ".join(lines) + "\n").encode("ascii"))
