"""Stacks that are still being filled: recombination, histogram and threshold pruning (Koehn et al. 2003).

A phrase covers at most `longest` words, so that only the next `longest` stacks are open at any time: they form a ring.
A stack grows to twice its limit before the best half is chosen, so that pruning costs little per hypothesis. A state
that was pruned and arrives again has lost its older edges.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.options.candidates import is_score
from phrasebeam.decoder.search.hypothesis_graph import ArrivedEdges, HypothesisGraph, append_edges
from phrasebeam.kernels.hashing import EMPTY, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.ordering import rank

LOWEST = -np.finfo(np.float64).max.item()  # so that a score of -inf, which means impossible, is below every threshold
# Status that kernels of the search return: OK, what is full, or why they stopped
OK, NODES_FULL, EDGES_FULL, STATES_FULL, STACK_FULL, STACK_EDGES_FULL, QUEUE_FULL = range(7)
HISTORIES_FULL, WRONG_SCORE, STOPPED = 7, 8, 9


class Stacks(NamedTuple):
    """A ring of R open stacks of at most C hypotheses and E edges each."""

    n_hypotheses: Annotated[np.ndarray, array(np.int64, "R")]
    n_edges: Annotated[np.ndarray, array(np.int64, "R")]
    threshold: Annotated[np.ndarray, array(np.float64, "R")]  # hypotheses of lower priority cannot survive
    best: Annotated[np.ndarray, array(np.float64, "R")]  # highest priority
    score: Annotated[np.ndarray, array(np.float64, "R", "C")]
    priority: Annotated[np.ndarray, array(np.float64, "R", "C")]  # score plus future cost
    first_gap: Annotated[np.ndarray, array(np.int32, "R", "C")]
    window: Annotated[np.ndarray, array(np.uint64, "R", "C")]
    lm_state: Annotated[np.ndarray, array(np.int32, "R", "C")]
    # What the scores of the next phrase depend on, see HypothesisGraph.history
    state: Annotated[np.ndarray, array(np.int32, "R", "C")]
    blocks: Annotated[np.ndarray, array(np.int32, "R", "C")]  # see Blocks; 0 if the reordering model has no blocks
    option: Annotated[np.ndarray, array(np.int32, "R", "C")]  # of the best edge
    last_edge: Annotated[np.ndarray, array(np.int32, "R", "C")]  # edges of a hypothesis are chained from the latest
    best_edge: Annotated[np.ndarray, array(np.int32, "R", "C")]
    slots: Annotated[np.ndarray, array(np.int32, "R", "T")]  # hash table of hypotheses, T a power of two >= 2 C
    edge_from: Annotated[np.ndarray, array(np.int32, "R", "E")]
    edge_option: Annotated[np.ndarray, array(np.int32, "R", "E")]
    edge_score: Annotated[np.ndarray, array(np.float64, "R", "E")]
    edge_next: Annotated[np.ndarray, array(np.int32, "R", "E")]  # or EMPTY
    ranked: Annotated[np.ndarray, array(np.int64, "C")]  # work space
    wrong: Annotated[np.ndarray, array(np.int64, 2)]  # node and option of the hypothesis that was a WRONG_SCORE


class Arrival(NamedTuple):
    """A new hypothesis."""

    score: float
    priority: float
    first_gap: int
    window: np.uint64
    lm_state: np.int64
    state: np.int64
    blocks: np.int64
    from_node: int
    option: int


def new_stacks(n_stacks: int, capacity: int, n_edges: int) -> Stacks:
    """Room for `capacity` hypotheses and `n_edges` edges in each of `n_stacks` stacks."""
    slots = 2
    while slots < 2 * capacity:
        slots *= 2
    return allocate(Stacks, {"R": n_stacks, "C": capacity, "E": n_edges, "T": slots})


@kernel
def clear_stack(stacks: Stacks, row):
    """Make the stack in `row` empty."""
    stacks.n_hypotheses[row] = 0
    stacks.n_edges[row] = 0
    stacks.threshold[row] = LOWEST
    stacks.best[row] = -np.inf
    stacks.slots[row, :] = EMPTY


@inlined_kernel
def _slot(stacks, row, first_gap, window, lm_state, state, blocks):
    """Slot of the hypothesis with that state in the hash table of `row`, or the empty slot where it belongs."""
    h = combine(combine(combine(window, np.int64(first_gap)), np.int64(lm_state)), state + (blocks << 32))
    slot = first_slot(mix(h), stacks.slots.shape[1])
    while stacks.slots[row, slot] != EMPTY:
        i = stacks.slots[row, slot]
        if (
            stacks.window[row, i] == window
            and stacks.first_gap[row, i] == first_gap
            and stacks.lm_state[row, i] == lm_state
            and stacks.state[row, i] == state
            and stacks.blocks[row, i] == blocks
        ):
            break
        slot = next_slot(slot, stacks.slots.shape[1])
    return slot


@inlined_kernel
def arrive(stacks: Stacks, row: int, new, limit: int, ln_beam: float):
    """Add the Arrival `new` to the stack, recombined or as a new hypothesis. Returns OK, what is full, or WRONG_SCORE.

    An example with ln_beam -5.8: three hypotheses arrive that cover the same words. The first two have the same
    `state`, `lm_state` and `blocks`, so that nothing that follows can tell them apart.

        score -5.1, priority -8.1    hypothesis 0, best edge 0; threshold -8.1 - 5.8 = -13.9
        score -4.9, priority -7.9    edge 1 of hypothesis 0, now its best; its score is -4.9, the threshold -13.7
        score -6.0, priority -9.0    hypothesis 1 with edge 2, as its lm_state is another one

    Edge 0 is kept, chained behind edge 1, for n-best lists and lattices. With limit 2, hypothesis 4 would be the fifth:
    before it is added, the best 2 of the first 4 stay, and from then on nothing below the second can arrive.
    """
    if not is_score(new.priority):  # pruning relies on an order of all priorities
        stacks.wrong[0], stacks.wrong[1] = new.from_node, new.option
        return WRONG_SCORE
    edge = stacks.n_edges[row]
    if edge == stacks.edge_from.shape[1]:
        return STACK_EDGES_FULL
    slot = _slot(stacks, row, new.first_gap, new.window, new.lm_state, new.state, new.blocks)
    i = np.int64(stacks.slots[row, slot])
    if i == EMPTY:  # nothing to recombine with
        # The time of pruning must not depend on the size of the arrays, which differs between threads.
        if limit > 0 and stacks.n_hypotheses[row] >= 2 * limit:
            _keep_best(stacks, row, limit)
            slot = _slot(stacks, row, new.first_gap, new.window, new.lm_state, new.state, new.blocks)
        elif stacks.n_hypotheses[row] == stacks.score.shape[1]:
            return STACK_FULL
        i = stacks.n_hypotheses[row]
        stacks.n_hypotheses[row] += 1
        stacks.slots[row, slot] = i
        stacks.first_gap[row, i], stacks.window[row, i] = new.first_gap, new.window
        stacks.lm_state[row, i], stacks.state[row, i], stacks.blocks[row, i] = new.lm_state, new.state, new.blocks
        stacks.last_edge[row, i], stacks.best_edge[row, i] = EMPTY, EMPTY
    # Each arrival becomes an edge, whether it is the best or not
    stacks.edge_from[row, edge], stacks.edge_option[row, edge] = new.from_node, new.option
    stacks.edge_score[row, edge] = new.score
    stacks.edge_next[row, edge] = stacks.last_edge[row, i]
    stacks.last_edge[row, i] = edge
    stacks.n_edges[row] += 1
    # Of equal scores the older one stays, as in Moses
    if stacks.best_edge[row, i] == EMPTY or new.score > stacks.score[row, i]:
        stacks.score[row, i], stacks.priority[row, i] = new.score, new.priority
        stacks.option[row, i], stacks.best_edge[row, i] = new.option, edge
        if new.priority > stacks.best[row]:
            stacks.best[row] = new.priority
            stacks.threshold[row] = max(stacks.threshold[row], new.priority + ln_beam)
    return OK


@inner_kernel
def _keep_best(stacks, row, limit):
    """Drop all but the `limit` best hypotheses, keep these in order, and raise the threshold to the worst of them."""
    rank(stacks.priority[row], stacks.n_hypotheses[row], stacks.ranked)
    worst = stacks.ranked[limit - 1]
    threshold = stacks.priority[row, worst]
    kept = 0
    for i in range(stacks.n_hypotheses[row]):
        priority = stacks.priority[row, i]
        if priority < threshold or (priority == threshold and i > worst):
            continue
        stacks.score[row, kept], stacks.priority[row, kept] = stacks.score[row, i], priority
        stacks.first_gap[row, kept], stacks.window[row, kept] = stacks.first_gap[row, i], stacks.window[row, i]
        stacks.lm_state[row, kept], stacks.state[row, kept] = stacks.lm_state[row, i], stacks.state[row, i]
        stacks.blocks[row, kept], stacks.option[row, kept] = stacks.blocks[row, i], stacks.option[row, i]
        stacks.last_edge[row, kept], stacks.best_edge[row, kept] = stacks.last_edge[row, i], stacks.best_edge[row, i]
        kept += 1
    stacks.n_hypotheses[row] = kept
    stacks.threshold[row] = max(stacks.threshold[row], threshold)
    stacks.slots[row, :] = EMPTY
    for i in range(kept):
        slot = _slot(
            stacks,
            row,
            np.int64(stacks.first_gap[row, i]),
            stacks.window[row, i],
            np.int64(stacks.lm_state[row, i]),
            np.int64(stacks.state[row, i]),
            np.int64(stacks.blocks[row, i]),
        )
        stacks.slots[row, slot] = i


@kernel
def close_stack(stacks: Stacks, row: int, limit: int, graph: HypothesisGraph, covered):
    """Prune the stack for good, append it to the graph as the nodes of `covered` words, and clear it."""
    node = graph.stack_first[covered]
    rank(stacks.priority[row], stacks.n_hypotheses[row], stacks.ranked)
    edges = ArrivedEdges(stacks.edge_from[row], stacks.edge_option[row], stacks.edge_score[row], stacks.edge_next[row])
    keep = stacks.n_hypotheses[row] if limit == 0 else min(limit, stacks.n_hypotheses[row])
    for k in range(keep):
        i = stacks.ranked[k]
        if stacks.priority[row, i] < stacks.threshold[row]:
            break
        if node == graph.score.size:
            return NODES_FULL
        graph.score[node], graph.option[node] = stacks.score[row, i], stacks.option[row, i]
        graph.first_gap[node], graph.window[node] = stacks.first_gap[row, i], stacks.window[row, i]
        graph.lm_state[node], graph.blocks[node] = stacks.lm_state[row, i], stacks.blocks[row, i]
        graph.history[node] = stacks.state[row, i]
        if not append_edges(graph, node, edges, stacks.last_edge[row, i], stacks.best_edge[row, i]):
            return EDGES_FULL
        node += 1
    graph.stack_first[covered + 1] = node
    clear_stack(stacks, row)
    return OK
