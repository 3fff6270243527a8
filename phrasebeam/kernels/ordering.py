"""Best-first order of indices by score: a binary heap with the worst index on top, and heapsort (Williams 1964).

Scores are float64[n], heaps int64 arrays of indices into them. Of equal scores the lower index is better.
"""

import numpy as np

from phrasebeam.kernels.jit import kernel

TOP = np.int64(0)


@kernel
def is_worse(scores: np.ndarray, a, b):
    """Whether index `a` (int64) comes after `b` in best-first order of `scores` (float64[n])."""
    return scores[a] < scores[b] or (scores[a] == scores[b] and a > b)


@kernel
def sift_down(scores: np.ndarray, heap: np.ndarray, top, size):
    """Move heap[top] down, within heap[:size], until neither child is worse; `top` and `size` int64."""
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
def push(scores: np.ndarray, heap: np.ndarray, size, item):
    """Add the index `item` (int64) to the heap of `size` (int64) indices, for which `heap` has space."""
    position = size
    while position > 0 and is_worse(scores, item, heap[(position - 1) // 2]):
        heap[position] = heap[(position - 1) // 2]
        position = (position - 1) // 2
    heap[position] = item


@kernel
def sort_best_first(scores: np.ndarray, heap: np.ndarray, size):
    """Sort the heap of `size` (int64) indices in place, best first."""
    for last in range(size - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        sift_down(scores, heap, TOP, np.int64(last))


@kernel
def rank(scores: np.ndarray, size, heap: np.ndarray):
    """Fill heap[:size] with the indices 0 to size - 1 in best-first order of their scores; `size` int64."""
    for i in range(size):
        heap[i] = i
    for top in range(size // 2 - 1, -1, -1):
        sift_down(scores, heap, np.int64(top), size)
    sort_best_first(scores, heap, size)
