"""Best-first order over an array of scores: a binary heap of indices with the worst on top (Williams 1964).

Ties are broken by the index, the lower one being better, so that the order is total.
"""

import numpy as np

from phrasebeam.kernels.jit import kernel

TOP = np.int64(0)


@kernel
def is_worse(scores, a, b):
    """Whether index `a` comes after `b` in best-first order."""
    return scores[a] < scores[b] or (scores[a] == scores[b] and a > b)


@kernel
def sift_down(scores, heap, top, size):
    """Let heap[top] sink until no index below it is worse; heap int64[>= size] of indices into `scores`."""
    item = heap[top]
    while 2 * top + 1 < size:
        child = 2 * top + 1
        if child + 1 < size and is_worse(scores, heap[child + 1], heap[child]):
            child += 1
        if not is_worse(scores, heap[child], item):
            break
        heap[top] = heap[child]
        top = child
    heap[top] = item


@kernel
def push(scores, heap, size, item):
    """Add `item` to the heap of `size` indices."""
    place = size
    while place > 0 and is_worse(scores, item, heap[(place - 1) // 2]):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


@kernel
def sort_best_first(scores, heap, size):
    """Turn the heap of `size` indices into a list, best first."""
    for last in range(size - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        sift_down(scores, heap, TOP, np.int64(last))


@kernel
def rank(scores, size, heap):
    """Write 0 .. size - 1 into `heap`, in best-first order of scores[:size]."""
    for i in range(size):
        heap[i] = i
    for top in range(size // 2 - 1, -1, -1):
        sift_down(scores, heap, np.int64(top), size)
    sort_best_first(scores, heap, size)
