"""The graph of all hypotheses that survived a search: nodes are recombined states, edges are phrases.

A node is what hypotheses share that the rest of the sentence can see; every hypothesis that reached it is kept as
an edge, so that n-best lists, lattices and the best derivation are read from the same arrays.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import kernel

START_NODE = 0
NO_OPTION = -1


class HypothesisGraph(NamedTuple):
    """N nodes in stacks by number of covered words, best first; the last stack holds the one final node."""

    stack_first: np.ndarray  # int64[n + 2], nodes of k covered words are stack_first[k]:stack_first[k + 1]
    score: np.ndarray  # float64[N], model score of the best way to the node
    first_gap: np.ndarray  # int32[N], with `window` the coverage
    window: np.ndarray  # uint64[N]
    lm_state: np.ndarray  # int32[N]
    blocks: np.ndarray  # int32[N], see Blocks; 0 where the reordering model keeps none
    history: np.ndarray  # int32[N], see Histories, where there are sparse features with history; else Options.state
    option: np.ndarray  # int32[N], option of the best edge, NO_OPTION at the start
    edge_first: np.ndarray  # int64[N + 1], edges of node i are edge_first[i]:edge_first[i + 1], the best one first
    edge_from: np.ndarray  # int32[E], node
    edge_option: np.ndarray  # int32[E]
    edge_score: np.ndarray  # float64[E], model score of the best derivation that ends with this edge


def new_graph(n_words: int, n_nodes: int, n_edges: int) -> HypothesisGraph:
    """Room for so many words, nodes and edges."""
    return HypothesisGraph(
        np.zeros(n_words + 2, np.int64),
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.uint64),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes + 1, np.int64),
        np.zeros(n_edges, np.int32),
        np.zeros(n_edges, np.int32),
        np.zeros(n_edges),
    )


@kernel
def best_derivation(graph, n_words, derivation):
    """Write the options of the best derivation, in target order, into `derivation` (int32[n_words]); their number."""
    return best_way_to(graph, graph.stack_first[n_words], derivation)


@kernel
def best_way_to(graph, node, derivation):
    """The same of the best derivation that leads to `node`."""
    count = 0
    while node != START_NODE:
        edge = graph.edge_first[node]
        derivation[count] = graph.edge_option[edge]
        node = np.int64(graph.edge_from[edge])
        count += 1
    for i in range(count // 2):
        derivation[i], derivation[count - 1 - i] = derivation[count - 1 - i], derivation[i]
    return count
