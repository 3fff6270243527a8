"""Word lattices and confusion networks as input: alternatives for what was meant (Dyer et al. 2008).

Nodes are numbered from 0, the start, to n, the end, and each arc leads to a later node. In a confusion network each arc
leads to the next node. A phrase translates the words on a path of arcs from one node to another, and covers the
positions between them. If arcs skip nodes, a jump is as long as the shortest path between its ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.tables.phrase_table import LEAST_LN

EMPTY = "*EPS*"  # the empty word; as in Moses, the word "" means the same
MOST_NODES, MOST_ARCS = 1000, 20_000  # per sentence
LONGEST_ARC = COVERAGE_WINDOW - 1  # nodes; a coverage must have room for it
UNREACHABLE = 1 << 20  # replaces a distance; larger than any

Scores = float | Sequence[float]  # probabilities of an arc: one, or as many as the model has weights for them


class Arc(NamedTuple):
    """A word, or EMPTY, from a node to the node that is `length` later."""

    word: str
    probabilities: tuple[float, ...]
    length: int = 1

    @property
    def ln_scores(self) -> tuple[float, ...]:
        """ln of the probabilities, at least LEAST_LN, as in Moses."""
        return tuple(max(math.log(p), LEAST_LN) if p > 0 else LEAST_LN for p in self.probabilities)


@dataclass(frozen=True)
class WordLattice:
    """The arcs that leave each node but the last. Raises ConfigError unless every node has arcs within the lattice."""

    nodes: tuple[tuple[Arc, ...], ...]

    @classmethod
    def of(cls, nodes: Sequence[Sequence[tuple[str, Scores, int]]]) -> "WordLattice":
        """The lattice whose nodes have arcs of these words, probabilities and lengths. Raises ConfigError."""
        return cls(tuple(tuple(Arc(_word(word), _tuple(p), length) for word, p, length in arcs) for arcs in nodes))

    def __post_init__(self) -> None:
        n_arcs = sum(map(len, self.nodes))
        if len(self.nodes) > MOST_NODES or n_arcs > MOST_ARCS:
            limits = f"at most {MOST_NODES} and {MOST_ARCS}"
            raise ConfigError(
                f"a sentence of {len(self.nodes)} positions and {n_arcs} arcs, expected {limits}; split it"
            )
        for number, arcs in enumerate(self.nodes):
            if not arcs:
                raise ConfigError(f"node {number} has no arcs, expected at least one")
            for arc in arcs:
                self._check(number, arc)
        if len({len(arc.probabilities) for arcs in self.nodes for arc in arcs}) > 1:
            raise ConfigError("some arcs have more scores than others, expected the same number for each")

    def _check(self, number: int, arc: Arc) -> None:
        where = f"the arc {excerpt(arc.word)} of node {number}"
        if not 1 <= arc.length <= min(LONGEST_ARC, len(self.nodes) - number):
            limits = f"1 to {min(LONGEST_ARC, len(self.nodes) - number)}, as the last node is {len(self.nodes)}"
            raise ConfigError(f"{where} leads {arc.length} nodes onwards, expected {limits}")
        for probability in arc.probabilities:
            if not 0 <= probability <= 1:
                raise ConfigError(f"{where} has the probability {probability}, expected 0 to 1")
        if any(c.isspace() for c in arc.word):
            raise ConfigError(f"{where} has white space in its word, expected one word")

    @property
    def n_scores(self) -> int | None:
        """Number of scores of each arc; None without arcs."""
        return len(self.nodes[0][0].probabilities) if self.nodes else None

    @property
    def words(self) -> tuple[str, ...]:
        """The likeliest word on an arc from each node, which is shown for that node."""
        return tuple(max(arcs, key=lambda arc: arc.probabilities).word for arcs in self.nodes)

    @property
    def is_confusion_network(self) -> bool:
        """Whether each arc leads to the next node."""
        return all(arc.length == 1 for arcs in self.nodes for arc in arcs)

    @cached_property
    def distances(self) -> np.ndarray:
        """int32[n + 1, n + 1], arcs of the shortest path between nodes, or UNREACHABLE; (0, 0) if no arc skips a node.

        In that case a distance is the difference of the nodes' numbers.
        """
        if self.is_confusion_network:
            return NO_DISTANCES
        n = len(self.nodes)
        found = np.full((n + 1, n + 1), UNREACHABLE, np.int32)
        np.fill_diagonal(found, 0)
        for number in range(n - 1, -1, -1):
            for length in {arc.length for arc in self.nodes[number]}:
                closer = np.minimum(found[number, number + 1 :], 1 + found[number + length, number + 1 :])
                found[number, number + 1 :] = closer
        return np.minimum(found, UNREACHABLE)


NO_DISTANCES = np.zeros((0, 0), np.int32)


def _word(word: str) -> str:
    return word or EMPTY


def _tuple(probabilities: Scores) -> tuple[float, ...]:
    return (probabilities,) if isinstance(probabilities, int | float) else tuple(probabilities)
