"""A direct-mapped cache of the ranked pairs of source phrases, since many source phrases occur again.

A newer source phrase replaces an older one. The cache must be cleared when weights or model change.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.kernels.jit import inlined_kernel

NO_SLOT = np.int64(-1)
CAPACITY = 8192  # a power of two; 32 bytes a candidate


class CandidateCache(NamedTuple):
    """The candidates (see Candidates) of at most M source phrases with at most K candidates each.

    NO_CACHE stores nothing.
    """

    source: Annotated[np.ndarray, array(np.int64, "M", fill=ABSENT)]  # source phrase in each slot, or ABSENT
    size: Annotated[np.ndarray, array(np.int64, "M")]  # number of candidates
    item: Annotated[
        np.ndarray, array(np.int64, "M", "K")
    ]  # index of each candidate among the pairs of the source phrase, best first
    score: Annotated[np.ndarray, array(np.float64, "M", "K")]
    estimate: Annotated[np.ndarray, array(np.float64, "M", "K")]
    bound: Annotated[np.ndarray, array(np.float64, "M", "K")]


def new_candidate_cache(most: int) -> CandidateCache:
    """An empty cache of lists of up to `most` candidates."""
    return allocate(CandidateCache, {"M": CAPACITY, "K": most})


def clear_candidate_cache(cache: CandidateCache) -> None:
    """Empty the cache; needed when weights change."""
    cache.source.fill(ABSENT)


NO_CACHE = allocate(CandidateCache, {"M": 0, "K": 0})


@inlined_kernel
def slot_in(cache: CandidateCache, source):
    """Slot of the cache for the candidates of a `source` phrase (int64), or NO_SLOT."""
    slot = source & (CAPACITY - 1)
    return slot if cache.source.size > 0 and cache.source[slot] == source else NO_SLOT


@inlined_kernel
def recall(cache: CandidateCache, source, candidates):
    """Copy the ranked candidates of a `source` phrase (int64) to `candidates` (Candidates); return how many, or 0."""
    slot = slot_in(cache, source)
    if slot == NO_SLOT:
        return np.int64(0)
    for k in range(cache.size[slot]):
        item = cache.item[slot, k]
        candidates.heap[k] = item
        candidates.score[item] = cache.score[slot, k]
        candidates.estimate[item] = cache.estimate[slot, k]
        candidates.bound[item] = cache.bound[slot, k]
    return cache.size[slot]


@inlined_kernel
def keep(cache: CandidateCache, source, candidates, size):
    """Store the first `size` (int64) of the ranked `candidates` (Candidates) of a `source` phrase (int64)."""
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
