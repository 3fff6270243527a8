"""64-bit hashes inside kernels; wrap-around is intended, so values and constants alike are uint64."""

import numpy as np

from lm.jit import kernel

START = np.uint64(0)


@kernel
def combine(h, value):
    """uint64 hash of the sequence hashed to `h` (uint64), continued by `value` (int64)."""
    return (h * np.uint64(8978948897894561157)) ^ (np.uint64(1 + value) * np.uint64(17894857484156487943))


@kernel
def mix(h):
    """uint64 `h` with its bits spread, so that the low ones can choose a slot (Steele et al. 2014, SplitMix64)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
