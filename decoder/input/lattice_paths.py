"""The paths of a lattice whose words a phrase may translate, span by span."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from phrasebeam.decoder.input.word_lattice import EMPTY, LONGEST_ARC, Arc, WordLattice


class Path(NamedTuple):
    """The words on a path between two nodes, without empty ones."""

    begin: int
    end: int
    words: tuple[str, ...]
    positions: tuple[int, ...]  # node at which the arc of each word begins
    ln_scores: tuple[float, ...]  # sums over the arcs, empty ones included


class _Partial(NamedTuple):
    """A path from some node, while it is made longer."""

    weighted: float
    positions: tuple[int, ...]
    ln_scores: tuple[float, ...]


_Ending = dict[tuple[tuple[str, ...], int], _Partial]  # paths to a node, the best of each text and number of arcs


def find_paths(
    lattice: WordLattice, longest: int, most: int, weights: Sequence[float], known: Collection[str]
) -> list[Path]:
    """The paths of up to `longest` arcs and at most LONGEST_ARC nodes, ordered by begin and end.

    Of paths with the same words between the same nodes the best one, by its scores times `weights`; and of others the
    `most` best. Words that are not `known` are alone on a path, and so is one empty arc that no word takes in.
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
    """The paths from the node `begin`, of which the empty path is `start`; `limits` are `longest` and `most`."""
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
    """The paths with different words, the best first; without words, that of one arc."""
    seen = set[tuple[str, ...]]()
    for (words, n_arcs), partial in best:
        if words not in seen and (words or n_arcs == 1):
            seen.add(words)
            yield Path(begin, end, words, partial.positions, partial.ln_scores)
