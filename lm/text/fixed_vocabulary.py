"""A vocabulary that no longer grows: the bytes of its words and a hash table over them, some 40 bytes a word.

A million words are indexed in a tenth of a second, and become Python strings only one by one, when asked for.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.kernels.hashing import first_slot, mix, murmur, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # in `slots`
NONE = np.int64(-1)  # no word stands twice
NEWLINE = 10
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
ABSENT = -1
FEW = 1 << 10  # words of a sentence at most: longer lists are not remembered
MOST_REMEMBERED = 1 << 15


class Words(NamedTuple):
    """V words; word i is data[offsets[i]:offsets[i + 1]], UTF-8."""

    data: np.ndarray  # uint8[...]
    offsets: np.ndarray  # int64[V + 1]


@kernel
def _split_lines(text, words):
    """Fill `words` with the lines of `text` (uint8), of which each ends in a newline."""
    size, line = np.int64(0), np.int64(0)
    words.offsets[0] = 0
    for i in range(text.size):
        if text[i] == NEWLINE:
            line += 1
            words.offsets[line] = size
        else:
            words.data[size] = text[i]
            size += 1


@inner_kernel
def _same_word(words, i, others, j):
    begin, other = words.offsets[i], others.offsets[j]
    size = words.offsets[i + 1] - begin
    if others.offsets[j + 1] - other != size:
        return False
    for k in range(size):
        if words.data[begin + k] != others.data[other + k]:
            return False
    return True


@inner_kernel
def _hash(words, i):
    return mix(murmur(words.data, words.offsets[i], words.offsets[i + 1]))


@inner_kernel
def _slot_of(words, slots, others, j, h):
    """The slot of word j of `others`, whose hash is h, in the hash table over `words`; or where it would stand."""
    slot = first_slot(h, slots.size)
    while slots[slot] != EMPTY:
        if slots[slot] >> HALF == h >> HALF and _same_word(words, np.int64(slots[slot] & LOW), others, j):
            break
        slot = next_slot(slot, slots.size)
    return slot


@kernel
def _fill(words, slots):
    """Put all words into the hash table; the first that stands there already, or NONE."""
    for i in range(words.offsets.size - 1):
        h = _hash(words, i)
        slot = _slot_of(words, slots, words, i, h)
        if slots[slot] != EMPTY:
            return np.int64(i)
        slots[slot] = (h >> HALF << HALF) | np.uint64(i)
    return NONE


@kernel
def _find(words, slots, others, missing, ids):
    for j in range(ids.size):
        found = slots[_slot_of(words, slots, others, j, _hash(others, j))]
        if found == EMPTY:
            ids[j] = missing
        else:
            ids[j] = np.int64(found & LOW)


def encode(words: Sequence[str]) -> Words:
    """`words` as kernels read them."""
    encoded = [word.encode("utf-8") for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return Words(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets)


class FixedVocabulary:
    """Distinct words with ids 0, 1, 2, ..., as Vocabulary.save wrote them."""

    def __init__(self, path: str | Path):
        """Read the file. Raises FormatError where it is no text or a word stands twice."""
        self.encoded = _read(path)
        self._bytes, self._offsets = self.encoded.data.data, self.encoded.offsets.data  # indexed faster than arrays
        slots = 2
        while slots < 2 * (len(self) + 1):
            slots *= 2
        self._remembered: dict[str, int] = {}  # words that were asked for, and their ids or ABSENT
        self._slots = np.full(slots, EMPTY)  # uint64, half of a word's hash above its id
        again = int(_fill(self.encoded, self._slots))
        if again != NONE:
            raise FormatError(
                path, f"the word {self.word(again)!r} stands here twice; train the model again", again + 1
            )

    def __len__(self) -> int:
        return self.encoded.offsets.size - 1

    def word(self, i: int) -> str:
        """The word with the id `i`."""
        return str(self._bytes[self._offsets[i] : self._offsets[i + 1]], "utf-8")

    @cached_property
    def words(self) -> list[str]:
        """All words, for those who need all: a hundred bytes each."""
        return [self.word(i) for i in range(len(self))]

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` where a word is not in the vocabulary."""
        if len(words) > FEW:
            return self._look_up(words, missing)
        found = list(map(self._remembered.get, words))
        if None in found:
            strange = [word for word, i in zip(words, found) if i is None]
            new = dict(zip(strange, self._look_up(strange, ABSENT).tolist()))
            found = [new[word] if i is None else i for word, i in zip(words, found)]
            self._remember(new)
        ids = np.array(found, np.int32)
        if missing != ABSENT:
            ids[ids == ABSENT] = missing
        return ids

    def _look_up(self, words: Sequence[str], missing: int) -> np.ndarray:
        ids = np.empty(len(words), np.int32)
        _find(self.encoded, self._slots, encode(words), np.int32(missing), ids)
        return ids

    def _remember(self, ids: dict[str, int]) -> None:
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered = {}
        self._remembered.update(ids)


def _read(path: str | Path) -> Words:
    """The lines of a file."""
    text = np.fromfile(path, np.uint8)
    try:
        str(text.data, "utf-8")
    except UnicodeDecodeError:
        for _ in read_lines(path):  # which names the line
            pass
    if text.size and text[-1] != NEWLINE:
        raise FormatError(path, "ends within a line; copy the model again")
    n_words = int(np.count_nonzero(text == NEWLINE))
    words = Words(np.empty(text.size - n_words, np.uint8), np.empty(n_words + 1, np.int64))
    _split_lines(text, words)
    return words
