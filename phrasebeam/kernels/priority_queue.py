"""A priority queue of items by cost: a heap with four children per node (LaMarca & Ladner 1996).

With thousands of items it is half as deep as a binary heap, and the costs of siblings are adjacent. A queue consists of
`costs` (float64[Q]) and `items` (int32[Q]), of which the first `size` (int64) are in use. The item of the lowest cost
comes first; of items of equal cost, the one with the higher number.
"""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel

CHILDREN = np.int64(4)  # per node


@inlined_kernel
def comes_first(cost, item, other_cost, other_item):
    """Whether `item` (int64) of `cost` (float64) leaves the queue before `other_item` of `other_cost`."""
    return (cost < other_cost) | ((cost == other_cost) & (item > other_item))  # `or` would be a mispredicted branch


@kernel
def enqueue(costs: np.ndarray, items: np.ndarray, size, cost, item):
    """Add `item` (int64) of `cost` (float64) to the queue, whose arrays must be longer than `size`."""
    position = size
    while position > 0:
        parent = (position - 1) // CHILDREN
        if not comes_first(cost, item, costs[parent], np.int64(items[parent])):
            break
        costs[position], items[position] = costs[parent], items[parent]
        position = parent
    costs[position], items[position] = cost, item


@kernel
def dequeue(costs: np.ndarray, items: np.ndarray, size):
    """Remove and return (int64) the first item of a queue of `size` > 0 items."""
    first, last = np.int64(items[0]), size - 1
    cost, item = costs[last], np.int64(items[last])
    position = np.int64(0)
    while CHILDREN * position + 1 < last:
        child = CHILDREN * position + 1
        best_cost, best = costs[child], np.int64(items[child])
        for other in range(child + 1, min(child + CHILDREN, last)):
            if comes_first(costs[other], np.int64(items[other]), best_cost, best):
                child, best_cost, best = np.int64(other), costs[other], np.int64(items[other])
        if not comes_first(best_cost, best, cost, item):
            break
        costs[position], items[position] = best_cost, best
        position = child
    costs[position], items[position] = cost, item
    return first
