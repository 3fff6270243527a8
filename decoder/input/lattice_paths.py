"""The paths of a lattice whose words a phrase may translate, span by span, for Python and for kernels.

In a text, a phrase over the positions begin:end translates the words begin:end. In a lattice it translates the words of
one of the paths between the nodes; the phrase pair determines the path. Each path is a source phrase in the sentence's
own tables.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.synthetic_pairs import synthetic_number
from phrasebeam.decoder.input.word_lattice import EMPTY, LONGEST_ARC, NO_DISTANCES, Arc, WordLattice
from phrasebeam.kernels.jit import inlined_kernel


class Path(NamedTuple):
    """The words on a path between two nodes, without empty words."""

    begin: int
    end: int
    words: tuple[str, ...]
    positions: tuple[int, ...]  # node at which the arc of each word begins
    ln_scores: tuple[float, ...]  # sums over the arcs, including empty ones


class _Partial(NamedTuple):
    """A path from some node, while it is extended."""

    weighted: float
    positions: tuple[int, ...]
    ln_scores: tuple[float, ...]


_Ending = dict[tuple[tuple[str, ...], int], _Partial]  # paths to a node: the best for each text and number of arcs


def find_paths(
    lattice: WordLattice, longest: int, most: int, weights: Sequence[float], known: Collection[str]
) -> list[Path]:
    """The paths of up to `longest` arcs and at most LONGEST_ARC nodes, ordered by begin and end.

    Of paths with the same words between the same nodes, only the best one by its scores times `weights` is returned; of
    the others, the `most` best. Words that are not `known` are alone on a path, and so is an empty arc that no path
    with words includes.
    """
    arcs = [[(arc, arc.ln_scores) for arc in node] for node in lattice.nodes]
    start = _Partial(0.0, (), (0.0,) * (lattice.n_scores or 0))
    return [path for begin in range(len(arcs)) for path in _from(begin, start, arcs, (longest, most), weights, known)]


def _from(
    begin: int,
    start: _Partial,
    arcs: Sequence[Sequence[tuple[Arc, tuple[float, ...]]]],
    limits: tuple[int, int],
    weights: Sequence[float],
    known: Collection[str],
) -> Iterator[Path]:
    """The paths from the node `begin`; `start` is the empty path there; `limits` are `longest` and `most`."""
    longest, most = limits
    last = min(begin + LONGEST_ARC, len(arcs))
    ending: dict[int, _Ending] = {begin: {((), 0): start}}
    for node in range(begin, last + 1):
        best = sorted(ending.pop(node, {}).items(), key=lambda item: -item[1].weighted)[:most]
        if node > begin:
            yield from _distinct(begin, node, best)
        for (words, n_arcs), partial in best if node < last else ():
            if n_arcs == longest:
                continue
            for arc, ln_scores in arcs[node]:
                is_empty = arc.word == EMPTY
                if node + arc.length > last or (
                    words and not is_empty and not (arc.word in known and words[0] in known)
                ):
                    continue
                key = words if is_empty else (*words, arc.word), n_arcs + 1
                weighted = partial.weighted + sum(map(float.__mul__, weights, ln_scores))
                there = ending.setdefault(node + arc.length, {})
                if key not in there or there[key].weighted < weighted:
                    positions = partial.positions if is_empty else (*partial.positions, node)
                    total = tuple(map(float.__add__, partial.ln_scores, ln_scores))
                    there[key] = _Partial(weighted, positions, total)


def _distinct(begin: int, end: int, best: Sequence[tuple[tuple[tuple[str, ...], int], _Partial]]) -> Iterator[Path]:
    """The paths with different words, the best first; of paths without words, only that of one arc."""
    seen = set[tuple[str, ...]]()
    for (words, n_arcs), partial in best:
        if words not in seen and (words or n_arcs == 1):
            seen.add(words)
            yield Path(begin, end, words, partial.positions, partial.ln_scores)


class SourcePaths(NamedTuple):
    """Q paths of S spans with I scores, for P pairs in the sentence's tables and K synthetic ones; all empty for text.

    Path q is source phrase q of the tables.
    """

    of_span: np.ndarray  # int64[S + 1], paths of the span with index s are of_span[s]:of_span[s + 1]
    of_pair: np.ndarray  # int64[P], path of each pair
    of_synthetic: np.ndarray  # int64[K], path of each synthetic pair
    first: np.ndarray  # int64[Q], first word of each path in Sentence.classes, where its words are adjacent
    end: np.ndarray  # int64[Q], half open
    ln_scores: np.ndarray  # float64[Q, I], sums over the arcs
    distances: np.ndarray  # int32[n + 1, n + 1], see WordLattice.distances


_NONE = np.zeros(0, np.int64)
NO_PATHS = SourcePaths(_NONE, _NONE, _NONE, _NONE, _NONE, np.zeros((0, 0)), NO_DISTANCES)


@inlined_kernel
def path_of(paths: SourcePaths, pair):
    """The path (int64) that `pair` (int64, negative if synthetic) translates; the sentence must be a lattice."""
    if pair < 0:
        return paths.of_synthetic[synthetic_number(pair)]
    return paths.of_pair[pair]


@inlined_kernel
def source_words(paths: SourcePaths, pair, begin, end):
    """(begin, end) of the source words in Sentence.classes that `pair` translates over the positions begin:end."""
    if paths.of_span.size == 0:
        return np.int64(begin), np.int64(end)
    path = path_of(paths, pair)
    return paths.first[path], paths.end[path]


@inlined_kernel
def weighted_input(paths: SourcePaths, weights, pair):
    """The scores of the path of `pair` (int64) times `weights` (float64[I]); 0 for text."""
    total = 0.0
    if paths.of_span.size > 0:
        path = path_of(paths, pair)
        for i in range(weights.size):
            total += weights[i] * paths.ln_scores[path, i]
    return total


@inlined_kernel
def add_input_scores(paths: SourcePaths, pair, place, features):
    """Add the scores of the path of `pair` (int64) to `features` (float64[F]) from `place` on; none for text."""
    if paths.of_span.size > 0:
        path = path_of(paths, pair)
        for i in range(paths.ln_scores.shape[1]):
            features[place + i] += paths.ln_scores[path, i]
