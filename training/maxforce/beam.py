"""Y-good and best y-bad hypotheses in the beam of a search, bin by bin (Yu et al. 2013, section 3.1).

A hypothesis is the best derivation that leads to a node of the graph; derivations that were recombined with it do not
count. It is y-good if its words are a prefix of the reference, or at the end of the sentence, the whole reference. All
hypotheses of the last bin share the final node, so there each edge to this node is a hypothesis.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.options.future_cost import FutureCost, future_cost
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.search.hypothesis_graph import START_NODE, HypothesisGraph
from phrasebeam.kernels.jit import kernel

NOT_GOOD = np.int64(-1)
NO_EDGE = -1
NO_NODE = -1


class Beam(NamedTuple):
    """Y-good and y-bad hypotheses of bins 0..n of a beam of N nodes."""

    # Score of the best y-bad hypothesis; -inf without one
    bad: Annotated[np.ndarray, array(np.float64, "n + 1", fill=-np.inf)]
    # Its score with the share of future cost that counts in comparisons; -inf without one
    bad_priority: Annotated[np.ndarray, array(np.float64, "n + 1", fill=-np.inf)]
    bad_edge: Annotated[np.ndarray, array(np.int64, "n + 1", fill=NO_EDGE)]  # its last edge, or NO_EDGE
    has_good: Annotated[np.ndarray, array(np.bool_, "n + 1")]
    # Number of reference words that the y-good hypothesis of each node has produced; NOT_GOOD if it is y-bad
    position: Annotated[np.ndarray, array(np.int32, "N")]


def new_beam(n_words: int, n_nodes: int) -> Beam:
    """An empty beam for a graph with these numbers of source words and nodes."""
    return allocate(Beam, {"n": n_words, "N": n_nodes})


@kernel
def fill_beam(
    graph: HypothesisGraph, options: Options, n_words, is_whole, reference, future: FutureCost, share, beam: Beam
):
    """Fill the new `beam`; `reference`: int32[m], target ids as Options has them.

    `is_whole` (bool): whether the `n_words` (int64) words are the whole sentence; `share` (float64): factor of the
    future cost in comparisons.
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
def future_share(graph: HypothesisGraph, future: FutureCost, share, node):
    """`share` (float64) times the future cost of `node` (int64)."""
    if share == 0.0:
        return 0.0
    return share * future_cost(future, np.int64(graph.first_gap[node]), graph.window[node])


@kernel
def best_good(graph: HypothesisGraph, n_words, future: FutureCost, share, best, priority):
    """Write the best node of each bin of a gold graph to `best` (int64[n + 1]); NO_NODE if there is none.

    `priority` (float64[n + 1]) gets its score plus `share` (float64) times its future cost, or -inf; `n_words`: int64.
    """
    for covered in range(n_words + 1):
        best[covered], priority[covered] = NO_NODE, -np.inf
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            score = graph.score[node] + future_share(graph, future, share, node)
            if score > priority[covered]:
                best[covered], priority[covered] = node, score


@kernel
def position_after(graph: HypothesisGraph, options: Options, reference, positions, edge):
    """Number of words of `reference` (int32[m]) that the hypothesis of an `edge` (int64) has produced, or NOT_GOOD.

    `positions` (int32[N]): this number for each earlier node. Returns int64.
    """
    position = np.int64(positions[graph.edge_from[edge]])
    if position == NOT_GOOD:
        return NOT_GOOD
    target = np.int64(options.target[graph.edge_option[edge]])
    for i in range(options.target_first[target], options.target_first[target + 1]):
        if position == reference.size or options.words[i] != reference[position]:
            return NOT_GOOD
        position += 1
    return position
