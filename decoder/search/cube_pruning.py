"""Cube pruning (Huang & Chiang 2007, section 4): only the most promising extensions are tried, best first.

The nodes of one stack that cover the same words and whose last source phrases have the same end form a group, sorted
best first. A group and a span that can follow it form a grid: a row for each node, a column for each option of the
span. The queue of a stack starts with the first corner of each grid. Each item taken from it adds its neighbours: the
next column and, from the first column, the next row, so that every item is queued once.

The queue is ordered by estimates without the language model, so that only items taken from it cost a query. Querying
the language model for all items in the queue, or queueing items again that turn out worse, gives better scores for the
same number of tries, but not in the same time.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.options.option_arrays import NOT_YET
from phrasebeam.decoder.options.option_details import complete_option
from phrasebeam.decoder.search.extension import (
    IMPOSSIBLE,
    PRUNED,
    SearchSpace,
    extension,
    find_spans,
    jump,
    send,
    start_search,
    weigh,
)
from phrasebeam.decoder.search.hypothesis_graph import NO_OPTION
from phrasebeam.decoder.search.stacks import OK, QUEUE_FULL, STOPPED, close_stack
from phrasebeam.kernels.hashing import EMPTY, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.priority_queue import dequeue, enqueue

ZERO = np.int64(0)


class Queues(NamedTuple):
    """A ring of R queues, one for each open stack, of at most Q hypotheses not yet tried; and groups of nodes."""

    n_items: Annotated[np.ndarray, array(np.int64, "R")]  # all items that were ever queued
    n_waiting: Annotated[np.ndarray, array(np.int64, "R")]
    waiting: Annotated[np.ndarray, array(np.int32, "R", "Q")]  # items by cost, the least first
    # Aligned with waiting: negated estimate of score plus future cost
    cost: Annotated[np.ndarray, array(np.float64, "R", "Q")]
    node: Annotated[np.ndarray, array(np.int32, "R", "Q")]
    option: Annotated[np.ndarray, array(np.int32, "R", "Q")]
    next_row: Annotated[np.ndarray, array(np.int32, "N")]  # the next node of a node's group, or EMPTY
    # Hash table of the last nodes of groups, T a power of two >= 2 * nodes of a stack
    slots: Annotated[np.ndarray, array(np.int32, "T")]
    heads: Annotated[np.ndarray, array(np.int32, "T")]  # first nodes of groups


def new_queues(n_stacks: int, capacity: int, n_nodes: int, stack_size: int) -> Queues:
    """Room for `capacity` items in each of `n_stacks` queues, for graphs of `n_nodes`, with `stack_size` a stack."""
    slots = 2
    while slots < 2 * stack_size:
        slots *= 2
    return allocate(Queues, {"R": n_stacks, "Q": capacity, "N": n_nodes, "T": slots})


@kernel
def cube_search(space: SearchSpace, queues: Queues, n_words):
    """Fill space.graph by cube pruning for a sentence of `n_words` words. Returns OK, STOPPED or what is full."""
    stacks = space.stacks
    start_search(space)
    queues.n_items[:] = 0
    queues.n_waiting[:] = 0
    for covered in range(n_words):
        for i in range(_group(space.graph, space.options, queues, covered)):
            if not _open_grids(space, queues, n_words, covered, np.int64(queues.heads[i])):
                return QUEUE_FULL
        row = (covered + 1) % stacks.n_edges.size
        status = _try_best(space, queues, n_words, covered + 1, row)
        if status != OK:
            return status
        status = close_stack(stacks, row, space.parameters.stack, space.graph, covered + 1)
        if status != OK:
            return status
    return OK


@inner_kernel
def _group(graph, options, queues, covered):
    """Chain the nodes of `covered` words in groups, write the first of each to queues.heads, and return how many."""
    queues.slots[:] = EMPTY
    count = 0
    for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
        end = _last_end(graph, options, node)
        h = combine(combine(graph.window[node], np.int64(graph.first_gap[node])), end)
        slot = first_slot(mix(h), queues.slots.size)
        while queues.slots[slot] != EMPTY:
            other = np.int64(queues.slots[slot])
            if (
                graph.window[other] == graph.window[node]
                and graph.first_gap[other] == graph.first_gap[node]
                and _last_end(graph, options, other) == end
            ):
                break
            slot = next_slot(slot, queues.slots.size)
        if queues.slots[slot] == EMPTY:
            queues.heads[count] = node
            count += 1
        else:
            queues.next_row[queues.slots[slot]] = node
        queues.slots[slot] = node
        queues.next_row[node] = EMPTY
    return count


@inlined_kernel
def _last_end(graph, options, node):
    last = graph.option[node]
    if last == NO_OPTION:
        return ZERO
    return np.int64(options.end[last])


@inner_kernel
def _open_grids(space, queues, n_words, covered, node):
    """Queue the first corners of all grids of the group that `node` leads; return whether there was room."""
    options = space.options
    for i in range(find_spans(space, n_words, node)):
        first = options.first[space.spans[i]]
        _complete(space, first)
        shared = extension(space, covered, node, first)
        if shared.remaining == -np.inf:  # what the node leaves uncovered cannot be translated, as in lattices
            continue
        if queues.n_items[shared.row] == queues.cost.shape[1]:
            return False
        estimate = shared.base + options.backward[first, shared.orientation] + options.estimate[first]
        _enqueue(queues, shared.row, node, first, estimate + shared.remaining)
    return True


@inner_kernel
def _try_best(space, queues, n_words, covered, row):
    """Try the best items of the queue in `row`, then empty the queue; they cover `covered` words.

    Returns OK, STOPPED or what is full.
    """
    options, tried = space.options, 0
    while queues.n_waiting[row] > 0 and (space.parameters.pops == 0 or tried < space.parameters.pops):
        if space.stop[0] != 0:
            return STOPPED
        item = _take(queues, row)
        node, option = np.int64(queues.node[row, item]), np.int64(queues.option[row, item])
        length = np.int64(options.end[option]) - np.int64(options.begin[option])
        shared = extension(space, covered - length, node, option)
        if queues.n_items[row] + 2 > queues.cost.shape[1]:
            return QUEUE_FULL
        _let_neighbours_in(space, queues, shared, option)
        status, score, lm_state = weigh(space, n_words, shared, option)
        tried += score != IMPOSSIBLE
        if status == OK:
            status = send(space, n_words, shared, option, score, lm_state)
        if status not in (OK, PRUNED):
            return status
    queues.n_items[row], queues.n_waiting[row] = 0, 0
    return OK


@inlined_kernel
def _let_neighbours_in(space, queues, shared, option):
    """Queue the next column of a grid and, from its first column, the next row."""
    options = space.options
    begin, end = np.int64(options.begin[option]), np.int64(options.end[option])
    span_index = begin * options.longest + end - begin - 1
    if option + 1 < options.first[span_index + 1]:
        _complete(space, option + 1)
        estimate = shared.base + options.backward[option + 1, shared.orientation] + options.estimate[option + 1]
        _enqueue(queues, shared.row, shared.node, option + 1, estimate + shared.remaining)
    below = np.int64(queues.next_row[shared.node])
    if option == options.first[span_index] and below != EMPTY:
        base, orientation = jump(space, below, begin, end)
        estimate = base + options.backward[option, orientation] + options.estimate[option]
        _enqueue(queues, shared.row, below, option, estimate + shared.remaining)


@inlined_kernel
def _complete(space, option):
    """Complete an option that fill_options has left incomplete, since most options are never queued."""
    if space.options.target[option] == NOT_YET:
        complete_option(space.options, option, space.tables, space.sentence, space.weights)


@inlined_kernel
def _enqueue(queues, row, node, option, priority):
    """Queue a new item; there must be room."""
    item = queues.n_items[row]
    queues.n_items[row] += 1
    queues.node[row, item], queues.option[row, item] = node, option
    enqueue(queues.cost[row], queues.waiting[row], queues.n_waiting[row], -priority, item)
    queues.n_waiting[row] += 1


@inlined_kernel
def _take(queues, row):
    """Remove the item of least cost from the queue and return it."""
    item = dequeue(queues.cost[row], queues.waiting[row], queues.n_waiting[row])
    queues.n_waiting[row] -= 1
    return item
