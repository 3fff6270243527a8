"""The n best derivations in a hypothesis graph, exactly and lazily (Huang & Chiang 2005, algorithm 3).

Each node has a list of the best ways to it. The next entry is the best of one candidate per edge: the edge appended to
some entry in the list of its source node. Only then is that node's list extended. If target strings must be distinct, a
way is left out if its string is already in the node's list: whatever follows it also follows the better way.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.target_strings import EMPTY_STRING, NO_STRING, TargetStrings, append_option, new_strings
from phrasebeam.decoder.search.hypothesis_graph import START_NODE, HypothesisGraph
from phrasebeam.kernels.hashing import START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.kernels.ordering import TOP, push, sift_down

NONE = -1
FULL = np.int64(-1)
KNOWN, ADDED = np.int64(0), np.int64(1)
ENTRIES, STRINGS_PER_ENTRY = 1 << 12, 4  # initial room; powers of two


class DerivationHeaps(NamedTuple):
    """Up to D entries in the lists of N nodes with E edges; an entry is an edge after an entry of its source node."""

    n_entries: Annotated[np.ndarray, array(np.int64, 1)]
    edge: Annotated[np.ndarray, array(np.int32, "D", fill=None)]
    source: Annotated[np.ndarray, array(np.int32, "D", fill=None)]  # the entry that the edge extends
    next: Annotated[np.ndarray, array(np.int32, "D", fill=None)]  # the next worse entry of the node, or NONE
    # Difference of its score to that of the node's best entry
    loss: Annotated[np.ndarray, array(np.float64, "D", fill=None)]
    node: Annotated[np.ndarray, array(np.int32, "D", fill=None)]
    string: Annotated[np.ndarray, array(np.int32, "D", fill=None)]  # target string up to the node
    # Hash table of entries by node and string, T a power of two >= 2 D
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=NONE)]
    first: Annotated[np.ndarray, array(np.int32, "N", fill=NONE)]  # best entry, NONE while the node has no list
    last: Annotated[np.ndarray, array(np.int32, "N", fill=NONE)]  # worst entry so far
    waiting: Annotated[np.ndarray, array(np.int64, "N")]  # number of candidates in the node's part of `heap`
    # The edge added last, whose next candidate is not yet in the queue, or NONE
    pending: Annotated[np.ndarray, array(np.int32, "N", fill=NONE)]
    # Edges counted from the node's first edge, the one with the least candidate_loss on top
    heap: Annotated[np.ndarray, array(np.int64, "E", fill=None)]
    candidate_loss: Annotated[np.ndarray, array(np.float64, "E", fill=None)]
    # Entry of the candidate; NONE: the first entry of a node that may have no list yet
    candidate_source: Annotated[np.ndarray, array(np.int32, "E", fill=None)]
    stack: Annotated[np.ndarray, array(np.int64, "n + 1", fill=None)]  # nodes whose lists are being extended
    chain: Annotated[np.ndarray, array(np.int64, "n + 1", fill=None)]  # nodes that will get lists


class Derivations(NamedTuple):
    """K derivations, best first; derivation i has the phrases offsets[i]:offsets[i + 1]."""

    offsets: np.ndarray  # int64[K + 1]
    phrases: Derivation
    option: np.ndarray  # int32[phrases]
    score: np.ndarray  # float64[K], model score

    def derivation(self, i: int) -> Derivation:
        """Derivation number `i`, a view."""
        return Derivation(*(field[self.offsets[i] : self.offsets[i + 1]] for field in self.phrases))


def best_derivations(
    graph: HypothesisGraph,
    n_words: int,
    n: int,
    options: Options,
    distinct: bool = False,
) -> Derivations:
    """The `n` best derivations in the graph, or all if there are fewer.

    With `distinct`, only the best derivation of each target string.
    """
    final, capacity = int(graph.stack_first[n_words]), ENTRIES
    while True:
        strings = new_strings(options, distinct, STRINGS_PER_ENTRY * capacity)
        lists = _new_lists(n_words, final + 1, int(graph.edge_first[final + 1]), capacity)
        count = fill_lists(graph, final, n, strings, lists)
        if count != FULL:
            break
        capacity *= 4
    offsets, losses = np.zeros(count + 1, np.int64), np.empty(count)
    chosen = np.empty(count * n_words, np.int32)
    read_list(graph, final, lists, offsets, chosen, losses)
    chosen = chosen[: offsets[count]]
    return Derivations(offsets, Derivation.of(options, chosen), chosen, graph.score[final] - losses)


def _new_lists(n_words: int, n_nodes: int, n_edges: int, capacity: int) -> DerivationHeaps:
    sizes = {"D": capacity, "T": 2 * capacity, "N": n_nodes, "E": n_edges, "n": n_words}
    return allocate(DerivationHeaps, sizes)


@kernel
def fill_lists(graph: HypothesisGraph, final, n, strings: TargetStrings, lists: DerivationHeaps):
    """Give node `final` a list of up to `n` entries; return their number, or FULL if the arrays are too small."""
    lists.edge[0], lists.source[0], lists.next[0], lists.loss[0] = NONE, NONE, NONE, 0.0
    lists.node[0], lists.string[0] = START_NODE, EMPTY_STRING
    lists.first[START_NODE], lists.last[START_NODE] = 0, 0
    lists.n_entries[0] = 1
    if _open(graph, final, strings, lists) == FULL:
        return FULL
    count = np.int64(1)
    while count < n and _has_more(lists, final):
        last = lists.last[final]
        if _lengthen(graph, final, strings, lists) == FULL:
            return FULL
        if lists.last[final] != last:
            count += 1
    return count


@inner_kernel
def _has_more(lists, node):
    """Whether the list of `node` may become longer."""
    return lists.waiting[node] > 0 or lists.pending[node] != NONE


@kernel
def _open(graph, node, strings, lists):
    """Give `node` a list with its best entry, after the nodes on the best way to it. Returns ADDED or FULL."""
    depth = 0
    while lists.first[node] == NONE:
        lists.chain[depth] = node
        depth += 1
        node = np.int64(graph.edge_from[graph.edge_first[node]])
    while depth > 0:
        depth -= 1
        source = np.int64(lists.first[node])
        node = lists.chain[depth]
        first, last = graph.edge_first[node], graph.edge_first[node + 1]
        loss, heap = lists.candidate_loss[first:last], lists.heap[first:last]
        for i in range(last - first):
            loss[i] = graph.score[node] - graph.edge_score[first + i]
            lists.candidate_source[first + i] = NONE
            if i > 0:
                heap[i - 1] = i
        size = last - first - 1
        for top in range(size // 2 - 1, -1, -1):
            sift_down(loss, heap, np.int64(top), size)
        lists.waiting[node] = size
        lists.candidate_source[first] = source
        if _add(graph, node, first, strings, lists) == FULL:
            return FULL
    return ADDED


@inner_kernel
def _lengthen(graph, node, strings, lists):
    """Add the next best entry to the list of `node`, if there is one. Returns KNOWN or FULL."""
    lists.stack[0], depth = node, 1
    while depth > 0:
        node = lists.stack[depth - 1]
        edge = np.int64(lists.pending[node])
        if edge != NONE:
            follower, source_node = lists.next[lists.candidate_source[edge]], np.int64(graph.edge_from[edge])
            if follower == NONE and _has_more(lists, source_node):
                lists.stack[depth] = source_node
                depth += 1
                continue
            lists.pending[node] = NONE
            if follower != NONE:
                lists.candidate_source[edge] = follower
                _wait(graph, node, edge, lists)
        edge = _pop(graph, node, lists)
        if edge == NONE:
            depth -= 1
            continue
        if lists.candidate_source[edge] == NONE:
            source_node = np.int64(graph.edge_from[edge])
            if _open(graph, source_node, strings, lists) == FULL:
                return FULL
            lists.candidate_source[edge] = lists.first[source_node]
        status = _add(graph, node, edge, strings, lists)
        if status == FULL:
            return FULL
        depth -= status
    return KNOWN


@inner_kernel
def _wait(graph, node, edge, lists):
    """Add the candidate of `edge` to the queue of `node`."""
    first, last = graph.edge_first[node], graph.edge_first[node + 1]
    synthetic = graph.score[node] - graph.edge_score[edge]
    lists.candidate_loss[edge] = lists.loss[lists.candidate_source[edge]] + synthetic
    push(lists.candidate_loss[first:last], lists.heap[first:last], lists.waiting[node], edge - first)
    lists.waiting[node] += 1


@inner_kernel
def _pop(graph, node, lists):
    """Remove the best candidate in the queue of `node` and return its edge, or NONE."""
    size = lists.waiting[node] - 1
    if size < 0:
        return np.int64(NONE)
    first, last = graph.edge_first[node], graph.edge_first[node + 1]
    edge = first + lists.heap[first]
    lists.waiting[node] = size
    if size > 0:
        lists.heap[first] = lists.heap[first + size]
        sift_down(lists.candidate_loss[first:last], lists.heap[first:last], TOP, size)
    return edge


@kernel
def _add(graph, node, edge, strings, lists):
    """Add the candidate of `edge` to the list of `node`. Returns ADDED, KNOWN if its string is in the list, or FULL."""
    lists.pending[node] = edge
    entry, source = lists.n_entries[0], np.int64(lists.candidate_source[edge])
    if entry == lists.edge.size:
        return FULL
    string = append_option(strings, np.int64(lists.string[source]), graph.edge_option[edge])
    if string == NO_STRING:
        return FULL
    if strings.matter:
        slot = first_slot(mix(combine(combine(START, node), string)), lists.slots.size)
        while lists.slots[slot] != NONE:
            if lists.node[lists.slots[slot]] == node and lists.string[lists.slots[slot]] == string:
                return KNOWN
            slot = next_slot(slot, lists.slots.size)
        lists.slots[slot] = entry
    lists.n_entries[0] += 1
    lists.edge[entry], lists.source[entry], lists.next[entry] = edge, source, NONE
    lists.loss[entry] = lists.candidate_loss[edge]
    lists.node[entry], lists.string[entry] = node, string
    if lists.first[node] == NONE:
        lists.first[node] = entry
    else:
        lists.next[lists.last[node]] = entry
    lists.last[node] = entry
    return ADDED


@kernel
def read_list(graph: HypothesisGraph, final, lists: DerivationHeaps, offsets: np.ndarray, chosen, losses: np.ndarray):
    """Write the options of the entries of node `final` to `chosen`, concatenated, and their begins to `offsets`."""
    entry, i = np.int64(lists.first[final]), 0
    while entry != NONE:
        begin, losses[i] = offsets[i], lists.loss[entry]
        count, at = 0, entry
        while lists.edge[at] != NONE:
            count += 1
            at = np.int64(lists.source[at])
        offsets[i + 1] = begin + count
        at = entry
        while lists.edge[at] != NONE:
            count -= 1
            chosen[begin + count] = graph.edge_option[lists.edge[at]]
            at = np.int64(lists.source[at])
        entry = np.int64(lists.next[entry])
        i += 1
