"""The graph of all hypotheses that survived a search: nodes are recombined states, edges are phrases.

A node stands for the hypotheses that the rest of the sentence cannot tell apart. Every hypothesis that reached it is
kept as an edge, so that n-best lists, lattices and the best derivation are read from the same arrays.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.jit import inlined_kernel, kernel

START_NODE = 0
NO_OPTION = -1
NO_EDGE = -1


class HypothesisGraph(NamedTuple):
    """N nodes in stacks by number of covered words, best first; the last stack holds the one final node."""

    # Nodes of k covered words are stack_first[k]:stack_first[k + 1]
    stack_first: Annotated[np.ndarray, array(np.int64, "n + 2")]
    score: Annotated[np.ndarray, array(np.float64, "N")]  # model score of the best way to the node
    first_gap: Annotated[np.ndarray, array(np.int32, "N")]  # first_gap and `window`: the coverage
    window: Annotated[np.ndarray, array(np.uint64, "N")]
    lm_state: Annotated[np.ndarray, array(np.int32, "N")]
    blocks: Annotated[np.ndarray, array(np.int32, "N")]  # see Blocks; 0 if the reordering model has no blocks
    # Id of the history (see Histories) if there are features with history, otherwise Options.state
    history: Annotated[np.ndarray, array(np.int32, "N")]
    option: Annotated[np.ndarray, array(np.int32, "N")]  # option of the best edge, NO_OPTION at the start
    # Edges of node i are edge_first[i]:edge_first[i + 1], the best one first
    edge_first: Annotated[np.ndarray, array(np.int64, "N + 1")]
    edge_from: Annotated[np.ndarray, array(np.int32, "E")]  # node before the edge
    edge_option: Annotated[np.ndarray, array(np.int32, "E")]
    # Model score of the best derivation that ends with this edge
    edge_score: Annotated[np.ndarray, array(np.float64, "E")]


def new_graph(n_words: int, n_nodes: int, n_edges: int) -> HypothesisGraph:
    """A graph with room for these numbers of words, nodes and edges."""
    return allocate(HypothesisGraph, {"n": n_words, "N": n_nodes, "E": n_edges})


class ArrivedEdges(NamedTuple):
    """Edges that arrived at nodes not yet in the graph; the edges of each node are chained from the latest."""

    source: np.ndarray  # int32[E], node
    option: np.ndarray  # int32[E]
    score: np.ndarray  # float64[E]
    next: np.ndarray  # int32[E], the edge that arrived before, or NO_EDGE


@inlined_kernel
def append_edges(graph, node, edges, latest, best):
    """Append the ArrivedEdges that are chained from `latest` to the graph as edges of `node`, `best` first.

    The edges of the preceding node must have been appended. Returns whether there was room.
    """
    best_position = graph.edge_first[node]
    edge, position = np.int64(latest), best_position + 1
    while edge != NO_EDGE:
        to = best_position if edge == best else position
        if to >= graph.edge_from.size:
            return False
        graph.edge_from[to], graph.edge_option[to] = edges.source[edge], edges.option[edge]
        graph.edge_score[to] = edges.score[edge]
        position += edge != best
        edge = np.int64(edges.next[edge])
    graph.edge_first[node + 1] = position
    return True


@kernel
def best_derivation(graph: HypothesisGraph, n_words, derivation: np.ndarray):
    """Write options of the best derivation, in target order, to `derivation` (int32[n_words]); return their number."""
    return best_way_to(graph, graph.stack_first[n_words], derivation)


@kernel
def best_way_to(graph: HypothesisGraph, node, derivation: np.ndarray):
    """Write the options of the best derivation that leads to `node` to `derivation` (int32[n]); return their number."""
    count = 0
    while node != START_NODE:
        edge = graph.edge_first[node]
        derivation[count] = graph.edge_option[edge]
        node = np.int64(graph.edge_from[edge])
        count += 1
    for i in range(count // 2):
        derivation[i], derivation[count - 1 - i] = derivation[count - 1 - i], derivation[i]
    return count
