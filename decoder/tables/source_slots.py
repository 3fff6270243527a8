"""The hash table over source phrases, built in parts, so that memory does not grow with their number.

Source phrases are sorted into parts by their home slot, which their hash determines, and each part is filled in the
order of home slots. A phrase whose home slot is taken goes into the next free slot, where linear probing finds it. The
table depends neither on the number of parts nor on the available memory.
"""

from pathlib import Path

import numpy as np

from phrasebeam.base.array_file import ArrayWriter
from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.decoder.tables.model_files import PHRASES, open_arrays
from phrasebeam.decoder.tables.phrase_table import ABSENT, phrase_hash
from phrasebeam.kernels.hashing import n_slots
from phrasebeam.kernels.jit import kernel

BYTES_PER_SLOT = 64  # measured memory for each slot of a part while the part is filled
HASHES_AT_ONCE = 1 << 18
MAX_PARTS = 4096


@kernel
def _hash_phrases(offsets, words, hashes):
    for i in range(hashes.size):
        hashes[i] = phrase_hash(words, offsets[i], offsets[i + 1])


@kernel
def _place(homes, phrases, begin, slots):
    """Put `phrases` (int64[K]) into `slots` (int64[S]), each into the first free slot from its home slot on.

    `homes` (int64[K]) ascend; all slots from `begin` on are free and no other is used. Returns the slot after the last
    phrase, or `begin`.
    """
    for i in range(homes.size):
        begin = max(begin, homes[i])
        slots[begin] = phrases[i]
        begin += 1
    return begin


@kernel
def _place_anywhere(phrases, slots):
    """Put `phrases` (int64[K]) into the first free ones of `slots` (int64[S])."""
    slot = np.int64(0)
    for i in range(phrases.size):
        while slots[slot] != ABSENT:
            slot += 1
        slots[slot] = phrases[i]


def hash_phrases(offsets: np.ndarray, words: np.ndarray) -> np.ndarray:
    """uint64[N] hashes of the phrases words[offsets[i]:offsets[i + 1]], of int64[N + 1] and int32[...]."""
    hashes = np.empty(offsets.size - 1, np.uint64)
    _hash_phrases(offsets, words, hashes)
    return hashes


def build_slots(source_offsets: np.ndarray, source_words: np.ndarray) -> np.ndarray:
    """int64[S] hash table of source phrases (see PhraseTable), which must be distinct, made in memory."""
    size = n_slots(source_offsets.size - 1)
    keys = _keys(hash_phrases(source_offsets, source_words), size)
    order = np.argsort(keys, kind="stable")
    slots, overflow = _fill_part(_homes(keys[order], size), order, np.zeros(0, np.int64), size)
    _place_anywhere(overflow, slots)
    return slots


def write_slots(directory: Path, hashes: RowFile, memory: int) -> int:
    """Write slots.npy, the hash table of the source phrases in `directory`, using at most `memory` bytes.

    `hashes` (uint64) are the hashes of all source phrases in order. Returns the first source phrase that equals an
    earlier one, or ABSENT.
    """
    size = n_slots(hashes.n_rows)
    part_size = _slots_at_once(size, memory)
    parts = BucketFiles(directory / "slots", np.uint64, 2)
    for first in range(0, hashes.n_rows, HASHES_AT_ONCE):
        keys = _keys(hashes.read(first, min(first + HASHES_AT_ONCE, hashes.n_rows)), size)
        phrases = np.arange(first, first + keys.size, dtype=np.uint64)
        parts.scatter(_homes(keys, size) // part_size, np.column_stack((keys, phrases)))
    overflow, repeated = np.zeros(0, np.int64), []
    writer = ArrayWriter(directory / "slots.npy", np.int64)
    for first in range(0, size, part_size):
        rows = parts.take(first // part_size)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        keys, phrases = rows[:, 0].copy(), rows[:, 1].astype(np.int64)
        repeated += _first_repeated(keys, phrases, directory)
        slots, overflow = _fill_part(_homes(keys, size) - first, phrases, overflow, part_size)
        writer.append(slots)
    writer.close()
    if overflow.size:
        written = np.load(directory / "slots.npy", mmap_mode="r+")
        _place_anywhere(overflow, np.asarray(written))
        written.flush()
    return min(repeated, default=ABSENT)


def _slots_at_once(size: int, memory: int) -> int:
    part_size = size
    while part_size * BYTES_PER_SLOT > memory and part_size > max(2, size // MAX_PARTS):
        part_size //= 2
    return part_size


def _keys(hashes: np.ndarray, size: int) -> np.ndarray:
    """`hashes` (uint64[K]) rotated so that the low bits, the home slot, come first: order by key is order by slot."""
    bits = np.uint64(size.bit_length() - 1)
    return hashes << (np.uint64(64) - bits) | hashes >> bits


def _homes(keys: np.ndarray, size: int) -> np.ndarray:
    """int64[K] home slots of `keys` (uint64[K]) in a table of `size` slots."""
    return (keys >> np.uint64(65 - size.bit_length())).astype(np.int64)


def _fill_part(
    homes: np.ndarray, phrases: np.ndarray, overflow: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """int64[size] slots of a part, filled with the `overflow` of the previous part, then `phrases` by their `homes`.

    Also returns int64[...], its own overflow: the phrases for which it had no room, for the next part.
    """
    slots = np.full(size + overflow.size + phrases.size, ABSENT, np.int64)
    slots[: overflow.size] = overflow
    end = _place(homes, phrases, overflow.size, slots)
    return slots[:size].copy(), slots[size : max(size, end)].copy()


def _first_repeated(keys: np.ndarray, phrases: np.ndarray, directory: Path) -> list[int]:
    """A list with the first of `phrases` (int64[K], ordered by `keys`) that equals an earlier one; [] if none does."""
    suspects = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if not suspects.size:
        return []
    files = [file for file in PHRASES if file.name in ("source_offsets", "source_words")]
    offsets, words = open_arrays(directory, files, {}).values()
    for i in suspects[np.argsort(phrases[suspects])].tolist():
        same_hash = np.flatnonzero(keys[:i] == keys[i])
        phrase, *others = (words[slice(*offsets[j : j + 2])].tolist() for j in phrases[[i, *same_hash]])
        if phrase in others:
            return [int(phrases[i])]
    return []
