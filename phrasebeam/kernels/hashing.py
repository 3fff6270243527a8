"""64-bit hashes inside kernels, and slots of hash tables. Arithmetic wraps around on purpose, so values are uint64."""

import hashlib
from collections.abc import Sequence

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

START = np.uint64(0)  # hash of the empty sequence
EMPTY = -1  # marks a free slot in a hash table of numbers from 0 on
GOLDEN, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
MURMUR = np.uint64(0xC6A4A7935BD1E995)  # the multiplier of MurmurHash64A


@kernel
def combine(h, value):
    """uint64 hash of the sequence with hash `h` (uint64) followed by `value` (int64); the order of values matters."""
    return (h * np.uint64(8978948897894561157)) ^ (np.uint64(1 + value) * np.uint64(17894857484156487943))


@kernel
def mix(h):
    """uint64 `h` with its bits mixed, so that the lowest can index a hash table (Steele et al. 2014, SplitMix64)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@inlined_kernel
def first_slot(h, size):
    """The slot (int64) to probe first for a key of hash `h` (uint64, mixed), among `size` (int64, a power of two)."""
    return np.int64(h & np.uint64(size - 1))


@inlined_kernel
def next_slot(slot, size):
    """The slot to probe after `slot` (int64) in a table of `size` slots, a power of two: linear probing."""
    return (slot + 1) & (size - 1)


@inlined_kernel
def memo_slot(key, size):
    """The slot (int64) of `key` (uint64) in a memo of `size` slots, a power of two up to 2**32.

    Fibonacci hashing (Knuth 1998, volume 3, section 6.4): the upper half of a product mixes best. In a memo a key
    replaces another key with the same slot.
    """
    return np.int64((key * GOLDEN) >> HALF) & (size - 1)


@kernel
def remainder(h, divisor, inverse):
    """uint64: `h` % `divisor` in half the time of a division; `inverse` is reciprocal(divisor).

    All three are uint64, and `divisor` < 2**63. The quotient is estimated as the upper half of h * inverse, which is at
    most 1 too small.
    """
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    h_low, h_high, i_low, i_high = h & low, h >> half, inverse & low, inverse >> half
    middle = h_high * i_low + ((h_low * i_low) >> half)
    carry = (h_low * i_high + (middle & low)) >> half
    rest = h - (h_high * i_high + (middle >> half) + carry) * divisor
    if rest >= divisor:
        rest -= divisor
    return rest


@kernel
def murmur(data, begin, end):
    """uint64 MurmurHash64A (Appleby 2008, seed 0) of data[begin:end]; `data` uint8[n], `begin`, `end` int64."""
    h = np.uint64(end - begin) * MURMUR
    position = begin
    while position + 8 <= end:
        block = _little_endian(data, position, position + 8) * MURMUR
        h = (h ^ ((block ^ (block >> np.uint64(47))) * MURMUR)) * MURMUR
        position += 8
    if position < end:
        h = (h ^ _little_endian(data, position, end)) * MURMUR
    h = (h ^ (h >> np.uint64(47))) * MURMUR
    return h ^ (h >> np.uint64(47))


@inner_kernel
def _little_endian(data, begin, end):
    """The uint64 whose bytes, lowest first, are data[begin:end] (uint8, at most 8)."""
    value = np.uint64(0)
    for i in range(begin, end):
        value |= np.uint64(data[i]) << np.uint64(8 * (i - begin))
    return value


def reciprocal(divisor: np.ndarray) -> np.ndarray:
    """uint64, like `divisor` (array or scalar, > 0): floor((2**64 - 1) / divisor), the `inverse` of `remainder`."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) // divisor


def n_slots(n_keys: int) -> int:
    """The number of slots of a hash table for `n_keys` keys: a power of two, of which at most half are used."""
    size = 2
    while size < 2 * (n_keys + 1):
        size *= 2
    return size


def name_hashes(names: Sequence[str]) -> np.ndarray:
    """uint64[N], 8 bytes of BLAKE2b of each name. For constants of modules, since no import should compile a kernel."""
    digests = (hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.array([int.from_bytes(digest, "little") for digest in digests], np.uint64)
