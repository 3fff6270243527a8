"""The hash table over source phrases, built in parts, so that memory does not grow with their number.

Source phrases are dealt out by the slot that their hash calls for, and each part of the table is filled in the order
of these home slots; a phrase whose home is taken goes behind the phrases before it, as linear probing would find it.
The table depends neither on the number of parts nor on the room given.
"""

from pathlib import Path

import numpy as np

from phrasebeam.base.array_writer import ArrayWriter
from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.decoder.tables.phrase_table import ABSENT, map_array, n_slots, phrase_hash
from phrasebeam.kernels.jit import kernel

BYTES_PER_SLOT = 64  # of a part while it is filled, measured
HASHES_AT_ONCE = 1 << 18
MAX_PARTS = 4096


@kernel
def _hash_phrases(offsets, words, hashes):
    for i in range(hashes.size):
        hashes[i] = phrase_hash(words, offsets[i], offsets[i + 1])


@kernel
def _place(homes, phrases, begin, slots):
    """Put `phrases` (int64[K]) into the free ones of `slots`, in the order of `homes` (int64[K], ascending).

    None goes before slot `begin`, the first free one. Returns the slot behind the last phrase, or `begin`.
    """
    for i in range(homes.size):
        begin = max(begin, homes[i])
        slots[begin] = phrases[i]
        begin += 1
    return begin


@kernel
def _place_anywhere(phrases, slots):
    """Put `phrases` into the first free slots."""
    slot = np.int64(0)
    for i in range(phrases.size):
        while slots[slot] != ABSENT:
            slot += 1
        slots[slot] = phrases[i]


def hash_phrases(offsets: np.ndarray, words: np.ndarray) -> np.ndarray:
    """uint64[N] hashes of the phrases words[offsets[i]:offsets[i + 1]]."""
    hashes = np.empty(offsets.size - 1, np.uint64)
    _hash_phrases(offsets, words, hashes)
    return hashes


def build_slots(source_offsets: np.ndarray, source_words: np.ndarray) -> np.ndarray:
    """int64[S] hash table over source phrases, which must be distinct, in memory."""
    size = n_slots(source_offsets.size - 1)
    keys = _keys(hash_phrases(source_offsets, source_words), size)
    order = np.argsort(keys, kind="stable")
    slots, beyond = _fill_part(_homes(keys[order], size), order, np.zeros(0, np.int64), size)
    _place_anywhere(beyond, slots)
    return slots


def write_slots(directory: Path, hashes: RowFile, memory: int) -> int:
    """Write slots.npy of the source phrases in `directory`; the first that stands there before, or ABSENT.

    `hashes` (uint64) are those of all source phrases in their order, `memory` the bytes that may be taken.
    """
    size = n_slots(hashes.n_rows)
    part = _slots_at_once(size, memory)
    parts = BucketFiles(directory / "slots", np.uint64, 2)
    for first in range(0, hashes.n_rows, HASHES_AT_ONCE):
        keys = _keys(hashes.read(first, min(first + HASHES_AT_ONCE, hashes.n_rows)), size)
        phrases = np.arange(first, first + keys.size, dtype=np.uint64)
        parts.scatter(_homes(keys, size) // part, np.column_stack((keys, phrases)))
    beyond, repeated = np.zeros(0, np.int64), []
    writer = ArrayWriter(directory / "slots.npy", np.int64)
    for first in range(0, size, part):
        rows = parts.take(first // part)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        keys, phrases = rows[:, 0].copy(), rows[:, 1].astype(np.int64)
        repeated += _first_repeated(keys, phrases, directory)
        slots, beyond = _fill_part(_homes(keys, size) - first, phrases, beyond, part)
        writer.append(slots)
    writer.close()
    if beyond.size:
        written = np.load(directory / "slots.npy", mmap_mode="r+")
        _place_anywhere(beyond, np.asarray(written))
        written.flush()
    return min(repeated, default=ABSENT)


def _slots_at_once(size: int, memory: int) -> int:
    part = size
    while part * BYTES_PER_SLOT > memory and part > max(2, size // MAX_PARTS):
        part //= 2
    return part


def _keys(hashes: np.ndarray, size: int) -> np.ndarray:
    """`hashes` (uint64[K]) turned so that the home slot, the low bits, comes first: order by key is order by slot."""
    bits = np.uint64(size.bit_length() - 1)
    return hashes << (np.uint64(64) - bits) | hashes >> bits


def _homes(keys: np.ndarray, size: int) -> np.ndarray:
    """int64[K] home slots in a table of `size`."""
    return (keys >> np.uint64(65 - size.bit_length())).astype(np.int64)


def _fill_part(homes: np.ndarray, phrases: np.ndarray, before: np.ndarray, part: int) -> tuple[np.ndarray, np.ndarray]:
    """int64[part] slots with the phrases `before`, which the part before had no room for, and `phrases` by `homes`.

    And int64[...] the phrases that have no room here, to stand at the beginning of the next part.
    """
    slots = np.full(part + before.size + phrases.size, ABSENT, np.int64)
    slots[: before.size] = before
    end = _place(homes, phrases, before.size, slots)
    return slots[:part].copy(), slots[part : max(part, end)].copy()


def _first_repeated(keys: np.ndarray, phrases: np.ndarray, directory: Path) -> list[int]:
    """The first of `phrases` (int64[K], in the order of their `keys`) that equals one before it, if there is any."""
    suspects = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if not suspects.size:
        return []
    offsets, words = (map_array(directory / f"{name}.npy") for name in ("source_offsets", "source_words"))
    for i in suspects[np.argsort(phrases[suspects])].tolist():
        same_hash = np.flatnonzero(keys[:i] == keys[i])
        phrase, *others = (words[slice(*offsets[j : j + 2])].tolist() for j in phrases[[i, *same_hash]])
        if phrase in others:
            return [int(phrases[i])]
    return []
