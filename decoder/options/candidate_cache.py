"""The ranked pairs of source phrases that came before: many come again.

A direct-mapped cache: a newer source phrase takes the place of an older one. Weights and model stay the same as long
as it is used, or it is made to forget.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.kernels.jit import inlined_kernel

CAPACITY = 8192  # a power of two; 32 bytes a candidate


class Frequent(NamedTuple):
    """Up to K best candidates, see Candidates, of each of M source phrases, none of more.

    NO_FREQUENT holds none, and keeps none.
    """

    source: np.ndarray  # int64[M], or ABSENT
    size: np.ndarray  # int64[M]
    item: np.ndarray  # int64[M, K], best first
    score: np.ndarray  # float64[M, K]
    estimate: np.ndarray  # float64[M, K]
    bound: np.ndarray  # float64[M, K]


def new_frequent(most: int) -> Frequent:
    """An empty cache of lists of up to `most` candidates."""
    lists = CAPACITY, most
    return Frequent(
        np.full(CAPACITY, ABSENT, np.int64),
        np.zeros(CAPACITY, np.int64),
        np.zeros(lists, np.int64),
        np.zeros(lists),
        np.zeros(lists),
        np.zeros(lists),
    )


def forget_frequent(frequent: Frequent) -> None:
    """Make the cache empty: for other weights."""
    frequent.source.fill(ABSENT)


NO_FREQUENT = Frequent(*(array[:0] for array in new_frequent(0)))


@inlined_kernel
def recall(frequent, source, candidates):
    """Put back the ranked candidates of a source phrase; their number, 0 if they are not known."""
    slot = source & (CAPACITY - 1)
    if frequent.source.size == 0 or frequent.source[slot] != source:
        return np.int64(0)
    for k in range(frequent.size[slot]):
        item = frequent.item[slot, k]
        candidates.heap[k] = item
        candidates.score[item] = frequent.score[slot, k]
        candidates.estimate[item] = frequent.estimate[slot, k]
        candidates.bound[item] = frequent.bound[slot, k]
    return frequent.size[slot]


@inlined_kernel
def keep(frequent, source, candidates, size):
    """Keep the `size` ranked candidates of a source phrase."""
    if frequent.source.size == 0 or frequent.item.shape[1] < size:
        return
    slot = source & (CAPACITY - 1)
    frequent.source[slot], frequent.size[slot] = source, size
    for k in range(size):
        item = candidates.heap[k]
        frequent.item[slot, k] = item
        frequent.score[slot, k] = candidates.score[item]
        frequent.estimate[slot, k] = candidates.estimate[item]
        frequent.bound[slot, k] = candidates.bound[item]
