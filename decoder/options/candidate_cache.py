"""The ranked pairs of source phrases that came before: many come again.

A direct-mapped cache: a newer source phrase takes the place of an older one. Weights and model stay the same as long
as it is used, or it is made to forget.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.kernels.jit import inlined_kernel

CAPACITY = 8192  # a power of two; 32 bytes a candidate


class CandidateCache(NamedTuple):
    """Up to K best candidates, see Candidates, of each of M source phrases, none of more.

    NO_CACHE holds none, and keeps none.
    """

    source: Annotated[np.ndarray, array(np.int64, "M", fill=ABSENT)]  # or ABSENT
    size: Annotated[np.ndarray, array(np.int64, "M")]
    item: Annotated[np.ndarray, array(np.int64, "M", "K")]  # best first
    score: Annotated[np.ndarray, array(np.float64, "M", "K")]
    estimate: Annotated[np.ndarray, array(np.float64, "M", "K")]
    bound: Annotated[np.ndarray, array(np.float64, "M", "K")]


def new_candidate_cache(most: int) -> CandidateCache:
    """An empty cache of lists of up to `most` candidates."""
    return allocate(CandidateCache, {"M": CAPACITY, "K": most})


def clear_candidate_cache(cache: CandidateCache) -> None:
    """Make the cache empty: for other weights."""
    cache.source.fill(ABSENT)


NO_CACHE = allocate(CandidateCache, {"M": 0, "K": 0})


@inlined_kernel
def recall(cache, source, candidates):
    """Put back the ranked candidates of a source phrase; their number, 0 if they are not known."""
    slot = source & (CAPACITY - 1)
    if cache.source.size == 0 or cache.source[slot] != source:
        return np.int64(0)
    for k in range(cache.size[slot]):
        item = cache.item[slot, k]
        candidates.heap[k] = item
        candidates.score[item] = cache.score[slot, k]
        candidates.estimate[item] = cache.estimate[slot, k]
        candidates.bound[item] = cache.bound[slot, k]
    return cache.size[slot]


@inlined_kernel
def keep(cache, source, candidates, size):
    """Keep the `size` ranked candidates of a source phrase."""
    if cache.source.size == 0 or cache.item.shape[1] < size:
        return
    slot = source & (CAPACITY - 1)
    cache.source[slot], cache.size[slot] = source, size
    for k in range(size):
        item = candidates.heap[k]
        cache.item[slot, k] = item
        cache.score[slot, k] = candidates.score[item]
        cache.estimate[slot, k] = candidates.estimate[item]
        cache.bound[slot, k] = candidates.bound[item]
