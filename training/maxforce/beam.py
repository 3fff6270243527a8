"""What of a search's beam is y-good, and the best that is y-bad, bin by bin (Yu et al. 2013, section 3.1).

A hypothesis is the best derivation that leads to a node of the graph: what was recombined with it has lost. It is
y-good if its words are a prefix of the reference, and at the end of the sentence the whole of it. The final node stands
for all hypotheses of the last bin: there each of its edges is one.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.options.future_cost import future_cost
from phrasebeam.decoder.search.hypothesis_graph import START_NODE
from phrasebeam.kernels.jit import kernel

NOT_GOOD = np.int64(-1)
NO_EDGE = -1
NO_NODE = -1


class Beam(NamedTuple):
    """What bins 0..n of a beam of N nodes hold."""

    # Score of the best y-bad hypothesis; -inf without one
    bad: Annotated[np.ndarray, array(np.float64, "n + 1", fill=-np.inf)]
    # The same with its future cost, if that counts
    bad_priority: Annotated[np.ndarray, array(np.float64, "n + 1", fill=-np.inf)]
    bad_edge: Annotated[np.ndarray, array(np.int64, "n + 1", fill=NO_EDGE)]  # its last edge, or NO_EDGE
    has_good: Annotated[np.ndarray, array(np.bool_, "n + 1")]
    # Words of the reference that y-good hypotheses have produced, or NOT_GOOD
    position: Annotated[np.ndarray, array(np.int32, "N")]


def new_beam(n_words: int, n_nodes: int) -> Beam:
    """Room for a graph of so many words and nodes."""
    return allocate(Beam, {"n": n_words, "N": n_nodes})


@kernel
def fill_beam(graph, options, n_words, is_whole, reference, future, share, beam):
    """Fill `beam`, which is new; `reference`: int32[m], target ids as Options has them.

    `is_whole`: whether the `n_words` words are the sentence; `share` of the future cost that counts in comparisons.
    """
    beam.position[START_NODE], beam.has_good[0] = 0, True
    for covered in range(1, n_words + 1):
        is_final = is_whole and covered == n_words
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            first, remaining = graph.edge_first[node], future_share(graph, future, share, node)
            end = graph.edge_first[node + 1] if is_final else first + 1
            beam.position[node] = position_after(graph, options, reference, beam.position, first)
            for edge in range(first, end):
                position = position_after(graph, options, reference, beam.position, edge)
                if position == reference.size if is_final else position != NOT_GOOD:
                    beam.has_good[covered] = True
                elif graph.edge_score[edge] + remaining > beam.bad_priority[covered]:
                    beam.bad_priority[covered] = graph.edge_score[edge] + remaining
                    beam.bad[covered], beam.bad_edge[covered] = graph.edge_score[edge], edge


@kernel
def future_share(graph, future, share, node):
    """`share` of the future cost of a node."""
    if share == 0.0:
        return 0.0
    return share * future_cost(future, np.int64(graph.first_gap[node]), graph.window[node])


@kernel
def best_good(graph, n_words, future, share, best, priority):
    """Fill in the best node of each bin of a gold graph, and what it is compared by: int64[n + 1], float64[n + 1].

    NO_NODE and -inf where there is none.
    """
    for covered in range(n_words + 1):
        best[covered], priority[covered] = NO_NODE, -np.inf
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            found = graph.score[node] + future_share(graph, future, share, node)
            if found > priority[covered]:
                best[covered], priority[covered] = node, found


@kernel
def position_after(graph, options, reference, positions, edge):
    """Words of the reference that the hypothesis of an edge has produced, or NOT_GOOD."""
    position = np.int64(positions[graph.edge_from[edge]])
    if position == NOT_GOOD:
        return NOT_GOOD
    target = np.int64(options.target[graph.edge_option[edge]])
    for i in range(options.target_first[target], options.target_first[target + 1]):
        if position == reference.size or options.words[i] != reference[position]:
            return NOT_GOOD
        position += 1
    return position
