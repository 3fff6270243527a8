"""The word alignment inside a phrase pair: its cliques, aligned words that belong together, and its shape."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel

Points = Sequence[Sequence[int]]  # (source, target) positions inside a phrase pair

SOURCE, TARGET = np.int64(0), np.int64(1)  # rows of cliques
UNALIGNED = np.int64(-1)  # in place of the clique of a word


class PairPoints(NamedTuple):
    """The alignment points of the P pairs of a phrase table, where they stand in the model's table."""

    offsets: np.ndarray  # int64[...], PhraseTable.alignment_offsets of the model
    points: np.ndarray  # uint8[..., 2], PhraseTable.alignment_points of the model
    origin: np.ndarray  # int64[P], numbers of the pairs in the model's table; [0] if the table is the model's


def no_pair_points() -> PairPoints:
    """The alignment points of a table without pairs."""
    return PairPoints(np.zeros(1, np.int64), np.zeros((0, 2), np.uint8), np.zeros(0, np.int64))


@inlined_kernel
def original_pair(origin, pair):
    """Number of `pair` (int64) in the model's phrase table; `origin` (int64[P]) as in PairPoints."""
    return origin[pair] if origin.size > 0 else pair


@inlined_kernel
def point_range(points: PairPoints, synthetic, pair):
    """(first, last) of the alignment points of `pair` (int64) in `points`; of a negative one in `synthetic`."""
    if pair < 0:
        number = -1 - pair
        return synthetic.alignment_offsets[number], synthetic.alignment_offsets[number + 1]
    original = original_pair(points.origin, pair)
    return points.offsets[original], points.offsets[original + 1]


@inlined_kernel
def fill_cliques(points, n_source, n_target, cliques):
    """Write the clique of each word to `cliques` (int64[2, W]): its first source position, or UNALIGNED.

    `points` is uint8[K, 2], of a pair with at least `n_source` source and `n_target` target words (int64).
    """
    cliques[SOURCE, :n_source], cliques[TARGET, :n_target] = UNALIGNED, UNALIGNED
    for k in range(points.shape[0]):
        i, j = np.int64(points[k, 0]), np.int64(points[k, 1])
        cliques[SOURCE, i], cliques[TARGET, j] = i, i
    has_changed = True
    while has_changed:
        has_changed = False
        for k in range(points.shape[0]):
            i, j = np.int64(points[k, 0]), np.int64(points[k, 1])
            first = min(cliques[SOURCE, i], cliques[TARGET, j])
            if cliques[SOURCE, i] != first or cliques[TARGET, j] != first:
                cliques[SOURCE, i], cliques[TARGET, j] = first, first
                has_changed = True


@inlined_kernel
def is_crossing(points):
    """Whether two of the `points` (uint8[K, 2]) cross: the order of their target words is not that of the source."""
    for k in range(points.shape[0]):
        for other in range(points.shape[0]):
            if points[k, 0] < points[other, 0] and points[k, 1] > points[other, 1]:
                return True
    return False


def cliques_of(points: Points) -> Iterator[tuple[list[int], list[int]]]:
    """Source and target positions of the cliques, by first source position: parts that no point connects."""
    cliques: list[tuple[set[int], set[int]]] = []
    for i, j in points:
        joined, others = ({i}, {j}), []
        for clique in cliques:
            if i in clique[0] or j in clique[1]:
                joined = joined[0] | clique[0], joined[1] | clique[1]
            else:
                others.append(clique)
        cliques = [*others, joined]
    for source, target in sorted(cliques, key=lambda clique: min(clique[0])):
        yield sorted(source), sorted(target)


def shape_of(points: Points, n_source: int, n_target: int) -> str:
    """The shape of an alignment in a name: runs of aligned (A) and unaligned (U) words of both sides, and crossing."""
    runs = [
        "".join("A" if is_aligned else "U" for is_aligned, _ in groupby(i in aligned for i in range(size))) or "-"
        for size, aligned in ((n_source, {i for i, _ in points}), (n_target, {j for _, j in points}))
    ]
    crosses = any(i < other_i and j > other_j for i, j in points for other_i, other_j in points)
    return "_".join([*runs, "crossing" if crosses else "monotone"])
