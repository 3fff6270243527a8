"""A vocabulary that no longer grows: the bytes of its words and a hash table over them, some 30 bytes a word.

A million words are indexed in a tenth of a second, and become Python strings only one by one, when asked for.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lm.errors import FormatError
from lm.files import read_lines
from lm.hashing import mix, murmur
from lm.jit import kernel

EMPTY = np.int32(-1)  # in `slots`
NONE = np.int64(-1)  # no word stands twice
NEWLINE = 10


class Words(NamedTuple):
    """V words; word i is data[offsets[i]:offsets[i + 1]], UTF-8."""

    data: np.ndarray  # uint8[...]
    offsets: np.ndarray  # int64[V + 1]


@kernel
def _same_word(words, i, others, j):
    begin, other = words.offsets[i], others.offsets[j]
    size = words.offsets[i + 1] - begin
    if others.offsets[j + 1] - other != size:
        return False
    for k in range(size):
        if words.data[begin + k] != others.data[other + k]:
            return False
    return True


@kernel
def _slot_of(words, slots, others, j):
    """The slot of word j of `others` in the hash table over `words`, or the empty one where it would stand."""
    mask = np.int64(slots.size - 1)
    slot = np.int64(mix(murmur(others.data, others.offsets[j], others.offsets[j + 1])) & np.uint64(mask))
    while slots[slot] != EMPTY and not _same_word(words, np.int64(slots[slot]), others, j):
        slot = (slot + 1) & mask
    return slot


@kernel
def _fill(words, slots):
    """Put all words into the hash table; the first that stands there already, or NONE."""
    for i in range(words.offsets.size - 1):
        slot = _slot_of(words, slots, words, i)
        if slots[slot] != EMPTY:
            return np.int64(i)
        slots[slot] = i
    return NONE


@kernel
def _find(words, slots, others, missing, ids):
    for j in range(ids.size):
        found = slots[_slot_of(words, slots, others, j)]
        ids[j] = missing if found == EMPTY else found


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
        self._bytes = self.encoded.data.data
        slots = 2
        while slots < 2 * (len(self) + 1):
            slots *= 2
        self._slots = np.full(slots, EMPTY)
        again = int(_fill(self.encoded, self._slots))
        if again != NONE:
            raise FormatError(
                path, f"the word {self.word(again)!r} stands here twice; train the model again", again + 1
            )

    def __len__(self) -> int:
        return self.encoded.offsets.size - 1

    def word(self, i: int) -> str:
        """The word with the id `i`."""
        offsets = self.encoded.offsets
        return str(self._bytes[offsets[i] : offsets[i + 1]], "utf-8")

    @cached_property
    def words(self) -> list[str]:
        """All words, for those who need all: a hundred bytes each."""
        return [self.word(i) for i in range(len(self))]

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` where a word is not in the vocabulary."""
        ids = np.empty(len(words), np.int32)
        _find(self.encoded, self._slots, encode(words), np.int32(missing), ids)
        return ids


def _read(path: str | Path) -> Words:
    """The lines of a file."""
    text = Path(path).read_bytes()
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        for _ in read_lines(path):  # which names the line
            pass
    data = np.frombuffer(text, np.uint8)
    if data.size and data[-1] != NEWLINE:
        raise FormatError(path, "ends within a line; copy the model again")
    ends = np.flatnonzero(data == NEWLINE)
    offsets = np.concatenate([np.zeros(1, np.int64), ends + 1 - np.arange(1, ends.size + 1)])
    return Words(data[data != NEWLINE], offsets)
