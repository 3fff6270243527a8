"""Words as concatenated bytes of UTF-8, and a hash table over them (open addressing, linear probing)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.hashing import first_slot, mix, murmur, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # slot without a word
NO_DUPLICATE = np.int64(-1)
HALF = np.uint64(32)  # bits of a slot that hold the word id
LOW = np.uint64(0xFFFFFFFF)  # mask of these bits


class Words(NamedTuple):
    """V words; word i is data[offsets[i]:offsets[i + 1]]."""

    data: np.ndarray  # uint8[...], UTF-8
    offsets: np.ndarray  # int64[V + 1]


class WordTable(NamedTuple):
    """A vocabulary that grows; the arrays have room after the last word."""

    words: Words
    slots: np.ndarray  # uint64[S], upper half of a word's hash, and its id as the lower half, or EMPTY
    n_words: np.ndarray  # int64[1]


@inner_kernel
def _is_word(words: Words, i, text, begin, end):
    """Whether word `i` is text[begin:end]."""
    first = words.offsets[i]
    if words.offsets[i + 1] - first != end - begin:
        return False
    for k in range(end - begin):
        if words.data[first + k] != text[begin + k]:
            return False
    return True


@inner_kernel
def _slot_of(words: Words, slots, text, begin, end, h):
    """Slot of the word text[begin:end], whose hash is `h` (uint64), in the hash table; if absent, an EMPTY slot."""
    slot = first_slot(h, slots.size)
    while slots[slot] != EMPTY:
        if slots[slot] >> HALF == h >> HALF and _is_word(words, np.int64(slots[slot] & LOW), text, begin, end):
            break
        slot = next_slot(slot, slots.size)
    return slot


@inner_kernel
def find_word(words: Words, slots, text, begin, end, missing):
    """The id (int64) of the word text[begin:end] in the hash table `slots` (uint64[S]); `missing` if it is absent.

    `text` is uint8[n], begin, end, missing are int64.
    """
    slot = _slot_of(words, slots, text, begin, end, mix(murmur(text, begin, end)))
    return missing if slots[slot] == EMPTY else np.int64(slots[slot] & LOW)


@inner_kernel
def add_word(table: WordTable, text, begin, end):
    """The id (int64) of the word text[begin:end] of `text` (uint8[n]), which is added if new; there must be room."""
    words, h = table.words, mix(murmur(text, begin, end))
    slot = _slot_of(words, table.slots, text, begin, end, h)
    if table.slots[slot] != EMPTY:
        return np.int64(table.slots[slot] & LOW)
    i = table.n_words[0]
    first = words.offsets[i]
    for k in range(end - begin):
        words.data[first + k] = text[begin + k]
    words.offsets[i + 1] = first + end - begin
    table.slots[slot] = (h >> HALF << HALF) | np.uint64(i)
    table.n_words[0] += 1
    return i


@kernel
def fill_slots(words: Words, slots):
    """Insert all words into the hash table `slots`; return the first id that equals an earlier one, or NO_DUPLICATE."""
    for i in range(words.offsets.size - 1):
        begin, end = words.offsets[i], words.offsets[i + 1]
        h = mix(murmur(words.data, begin, end))
        slot = _slot_of(words, slots, words.data, begin, end, h)
        if slots[slot] != EMPTY:
            return np.int64(i)
        slots[slot] = (h >> HALF << HALF) | np.uint64(i)
    return NO_DUPLICATE


@kernel
def find_words(words: Words, slots, others: Words, missing, ids):
    """Fill `ids` (int32[n]) with the ids in `words` of `others`; `missing` (int64) for those that are absent.

    `slots` (uint64[S]) is the hash table of `words`.
    """
    for j in range(ids.size):
        ids[j] = find_word(words, slots, others.data, others.offsets[j], others.offsets[j + 1], missing)


def encode(words: Sequence[str]) -> Words:
    """The UTF-8 bytes of `words`, as kernels read them."""
    encoded = [word.encode("utf-8") for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return Words(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets)
