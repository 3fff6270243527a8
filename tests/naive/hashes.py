"""The hashes of sparse features by their definitions, on Python's integers."""

import hashlib

EVERY_BIT = 2**64 - 1
MURMUR = 0xC6A4A7935BD1E995


def combine(h, value):
    return (h * 8978948897894561157 ^ ((1 + value) & EVERY_BIT) * 17894857484156487943) & EVERY_BIT


def mix(h):
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & EVERY_BIT
    h = (h ^ h >> 27) * 0x94D049BB133111EB & EVERY_BIT
    return h ^ h >> 31


def hash_text(text):
    """MurmurHash64A with seed 0, mixed."""
    data = text.encode()
    h = len(data) * MURMUR & EVERY_BIT
    whole = len(data) - len(data) % 8
    for i in range(0, whole, 8):
        block = int.from_bytes(data[i : i + 8], "little") * MURMUR & EVERY_BIT
        h = (h ^ (block ^ block >> 47) * MURMUR & EVERY_BIT) * MURMUR & EVERY_BIT
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * MURMUR & EVERY_BIT
    h = (h ^ h >> 47) * MURMUR & EVERY_BIT
    return mix(h ^ h >> 47)


def name_hash(name):
    """uint64 hash of the name of a group, or of a position."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
