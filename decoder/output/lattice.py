"""The lattice of a sentence: the paths through a hypothesis graph from its start to its end.

With the best score from each node to the end (outside score), the lattice can be reduced to nodes and edges on
derivations that are almost as good as the best (Sixtus & Ortmanns 1999, for word graphs of speech recognizers).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.search.hypothesis_graph import START_NODE, HypothesisGraph
from phrasebeam.kernels.jit import kernel

NONE = -1
ROUNDING = 1e-9  # error of sums of scores in different orders


@dataclass(frozen=True, eq=False)
class Lattice:
    """A lattice of N nodes, ordered by the number of covered words from the start to the end, and E edges with phrases.

    Every path from start to end is a derivation that survived the search, and every node and edge lies on such a path.
    Scores are natural logarithms; spans are half open.
    """

    source: tuple[str, ...]  # words of the sentence
    score: float  # model score of the best derivation
    covered: np.ndarray  # int32[N], source words translated so far
    inside: np.ndarray  # float64[N], score of the best path from the start to the node
    outside: np.ndarray  # float64[N], score of the best path from the node to the end
    following: np.ndarray  # int64[N], the first edge of the best path to the end; -1 at the end
    edge_first: (
        np.ndarray
    )  # int64[N + 1], the edges that lead to node i are edge_first[i]:edge_first[i + 1], the best first
    edge_from: np.ndarray  # int32[E], node
    edge_to: np.ndarray  # int32[E], node
    edge_score: np.ndarray  # float64[E], what the phrase adds to the score
    begin: np.ndarray  # int32[E], source span
    end: np.ndarray  # int32[E]
    option: np.ndarray  # int32[E], equal for equal phrase pairs of the same words
    phrase: list[str]  # E source phrases
    target: list[str]  # E target phrases

    def __repr__(self) -> str:
        sizes = f"{self.covered.size} nodes, {self.edge_from.size} edges"
        return f"<Lattice of {excerpt(' '.join(self.source))}: {sizes}, score {self.score}>"

    @property
    def best_path(self) -> list[int]:
        """The edges of the best derivation, in target order."""
        path, node = [], self.covered.size - 1
        while node != START_NODE:
            path.append(int(self.edge_first[node]))
            node = int(self.edge_from[path[-1]])
        return path[::-1]


class ConnectedPart(NamedTuple):
    """The part of a hypothesis graph that belongs to a lattice: N nodes, E edges."""

    node: np.ndarray  # int64[N], in the graph, ascending
    edge: np.ndarray  # int64[E], in the graph, ascending
    outside: np.ndarray  # float64[N]
    following: np.ndarray  # int64[N], as an index of `edge`


def connected(graph: HypothesisGraph, n_words: int, beam: float = math.inf) -> ConnectedPart:
    """Nodes and edges on derivations that score at most `beam` (>= 0) below the best."""
    final = int(graph.stack_first[n_words])
    outside, following = np.empty(final + 1), np.empty(final + 1, np.int64)
    kept = np.zeros(int(graph.edge_first[final + 1]), np.bool_)
    fill_outside(graph, final, float(beam), outside, following, kept)
    node = np.flatnonzero(outside > -np.inf)
    renumbered = np.append(np.cumsum(kept) - 1, NONE)
    return ConnectedPart(node, np.flatnonzero(kept), outside[node], renumbered[following[node]])


def beam_of_words(graph: HypothesisGraph, n_words: int, sizes: np.ndarray, most: int) -> float:
    """The widest beam within which all phrases together have at most `most` target words.

    `sizes` (int[O]) has the number of target words of each option. The best derivations are within every beam.
    """
    part = connected(graph, n_words)
    node = np.searchsorted(graph.edge_first[: part.node[-1] + 2], part.edge, side="right") - 1
    loss = graph.score[part.node[-1]] - graph.edge_score[part.edge] - part.outside[np.searchsorted(part.node, node)]
    order = np.argsort(loss)
    n_within = np.searchsorted(np.cumsum(sizes[graph.edge_option[part.edge[order]]]), most, side="right")
    if n_within == order.size:
        return math.inf
    return max(float(loss[order[n_within]]) - ROUNDING, 0.0)


@kernel
def fill_outside(graph: HypothesisGraph, final: int, beam, outside, following: np.ndarray, kept: np.ndarray):
    """Fill the outside scores (-inf: no path to the end), the edges towards the end, and which edges the beam keeps."""
    worst = graph.score[final] - beam
    for node in range(final + 1):
        outside[node], following[node] = -np.inf, NONE
    outside[final] = 0.0
    for node in range(final, START_NODE, -1):
        if outside[node] == -np.inf:
            continue
        first = graph.edge_first[node]
        for edge in range(first, graph.edge_first[node + 1]):
            # Despite rounding, the best edge of a node in the lattice must be in the lattice, too.
            if edge != first and graph.edge_score[edge] + outside[node] < worst:
                continue
            kept[edge] = True
            source = np.int64(graph.edge_from[edge])
            onwards = graph.edge_score[edge] - graph.score[source] + outside[node]
            if onwards > outside[source]:
                outside[source], following[source] = onwards, edge


def build_lattice(
    source: list[str],
    score: float,
    graph: HypothesisGraph,
    part: ConnectedPart,
    spans: tuple[np.ndarray, np.ndarray],
    texts: tuple[list[str], ...],
) -> Lattice:
    """The lattice of the `part` of a graph; its edges have `spans` (begin, end) and `texts` (phrase, target)."""
    node, edge = part.node, part.edge
    number = np.zeros(int(node[-1]) + 1, np.int32)
    number[node] = np.arange(node.size)
    edge_first = np.append(np.searchsorted(edge, graph.edge_first[node]), edge.size)
    edge_from = graph.edge_from[edge]
    return Lattice(
        tuple(source),
        score,
        (np.searchsorted(graph.stack_first[: len(source) + 1], node, side="right") - 1).astype(np.int32),
        graph.score[node],
        part.outside,
        part.following,
        edge_first,
        number[edge_from],
        np.repeat(np.arange(node.size, dtype=np.int32), np.diff(edge_first)),
        graph.edge_score[edge] - graph.score[edge_from],
        *spans,
        graph.edge_option[edge],
        *texts,
    )
