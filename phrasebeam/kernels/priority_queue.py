"""A queue of items by cost: a heap of four children a node, costs beside the items (LaMarca & Ladner 1996).

For queues of thousands: half as deep as a binary heap, and what is compared lies together in the processor's cache.
Of equal costs the item of the higher number comes first, so that the order is total.
"""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel

CHILDREN = np.int64(4)


@inlined_kernel
def comes_first(cost, item, other_cost, other):
    """Whether `item` leaves the queue before `other`."""
    return cost < other_cost or (cost == other_cost and item > other)


@kernel
def enqueue(costs, items, size, cost, item):
    """Add `item` of `cost` to the queue costs[:size] (float64), items[:size] (int32), where there is room for it."""
    place = size
    while place > 0:
        parent = (place - 1) // CHILDREN
        if not comes_first(cost, item, costs[parent], np.int64(items[parent])):
            break
        costs[place], items[place] = costs[parent], items[parent]
        place = parent
    costs[place], items[place] = cost, item


@kernel
def dequeue(costs, items, size):
    """Take the first item out of a queue of `size` > 0 items."""
    first, last = np.int64(items[0]), size - 1
    cost, item = costs[last], np.int64(items[last])
    place = np.int64(0)
    while CHILDREN * place + 1 < last:
        child = CHILDREN * place + 1
        best_cost, best = costs[child], np.int64(items[child])
        for other in range(child + 1, min(child + CHILDREN, last)):
            if comes_first(costs[other], np.int64(items[other]), best_cost, best):
                child, best_cost, best = np.int64(other), costs[other], np.int64(items[other])
        if not comes_first(best_cost, best, cost, item):
            break
        costs[place], items[place] = best_cost, best
        place = child
    costs[place], items[place] = cost, item
    return first
