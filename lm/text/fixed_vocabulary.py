"""An immutable vocabulary: the bytes of its words and a hash table over them, some 40 bytes per word.

A million words are indexed in a tenth of a second; a word becomes a Python string only when it is asked for.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.kernels.hashing import first_slot, mix, murmur, next_slot
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.process.system_errors import named_in_errors

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # slot without a word
NO_DUPLICATE = np.int64(-1)
NEWLINE = 10
MOST_WORDS = 2**25  # 40 bytes each; files of models are bounded where they are opened
HALF = np.uint64(32)  # bits of a slot that hold the word id
LOW = np.uint64(0xFFFFFFFF)  # mask of these bits
ABSENT = -1  # cached id of a word that is not in the vocabulary
MAX_CACHED_LIST = 1 << 10  # words, as sentences have: ids of longer lists are not cached
CACHE_SIZE = 1 << 15  # words


class Words(NamedTuple):
    """V words; word i is data[offsets[i]:offsets[i + 1]]."""

    data: np.ndarray  # uint8[...], UTF-8
    offsets: np.ndarray  # int64[V + 1]


@kernel
def _split_lines(text, words: Words):
    """Fill `words` with the lines of `text` (uint8[n]), each of which ends in a newline."""
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
def _is_word(words: Words, i, data, begin, end):
    """Whether words[i] is the bytes data[begin:end] (uint8[n])."""
    first = words.offsets[i]
    if words.offsets[i + 1] - first != end - begin:
        return False
    for k in range(end - begin):
        if words.data[first + k] != data[begin + k]:
            return False
    return True


@inner_kernel
def _slot_of(words: Words, slots, data, begin, end, h):
    """Slot of the bytes data[begin:end], of hash `h` (uint64), in the table `slots` of `words`, or an EMPTY slot."""
    slot = first_slot(h, slots.size)
    while slots[slot] != EMPTY:
        if slots[slot] >> HALF == h >> HALF and _is_word(words, np.int64(slots[slot] & LOW), data, begin, end):
            break
        slot = next_slot(slot, slots.size)
    return slot


@inner_kernel
def word_id(words: Words, slots, data, begin, end, missing):
    """The id (int64) of the word data[begin:end] (uint8[n]) by the table `slots` of `words`, or `missing`."""
    slot = slots[_slot_of(words, slots, data, begin, end, mix(murmur(data, begin, end)))]
    return np.int64(missing) if slot == EMPTY else np.int64(slot & LOW)


@kernel
def _fill(words: Words, slots):
    """Insert all words into the hash table `slots`; id of the first that equals an earlier one, or NO_DUPLICATE."""
    for i in range(words.offsets.size - 1):
        begin, end = words.offsets[i], words.offsets[i + 1]
        h = mix(murmur(words.data, begin, end))
        slot = _slot_of(words, slots, words.data, begin, end, h)
        if slots[slot] != EMPTY:
            return np.int64(i)
        slots[slot] = (h >> HALF << HALF) | np.uint64(i)
    return NO_DUPLICATE


@kernel
def _find(words: Words, slots, others: Words, missing, ids):
    """Fill `ids` (int32[n]) with the ids in `words` of `others`; `missing` (int32) for those that are absent."""
    for j in range(ids.size):
        ids[j] = word_id(words, slots, others.data, others.offsets[j], others.offsets[j + 1], missing)


def encode(words: Sequence[str]) -> Words:
    """The UTF-8 bytes of `words`, as kernels read them."""
    encoded = [word.encode("utf-8") for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return Words(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets)


class FixedVocabulary:
    """Distinct words with ids 0, 1, 2, ..., from a file that Vocabulary.save wrote."""

    def __init__(self, path: str | Path):
        """Read the file. Raises FormatError if it is not UTF-8, ends within a line, or has a word twice."""
        self.encoded = _read(path)
        self._view_bytes()
        n_slots = 2
        while n_slots < 2 * (len(self) + 1):
            n_slots *= 2
        self._cached_ids: dict[str, int] = {}  # ids, or ABSENT, of words that were looked up
        self.slots = np.full(n_slots, EMPTY)  # uint64: upper half of a word's hash, and its id as the lower half
        duplicate = int(_fill(self.encoded, self.slots))
        if duplicate != NO_DUPLICATE:
            word = excerpt(self.word(duplicate))
            raise FormatError(path, f"the word {word} stands here twice; train the model again", duplicate + 1)

    def _view_bytes(self) -> None:
        """Memoryviews of the words, which are faster to index than arrays."""
        self._bytes, self._offsets = self.encoded.data.data, self.encoded.offsets.data

    def __getstate__(self) -> dict[str, object]:
        return {"encoded": self.encoded, "slots": self.slots, "_cached_ids": {}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._view_bytes()

    def __len__(self) -> int:
        return self.encoded.offsets.size - 1

    def word(self, i: int) -> str:
        return str(self._bytes[self._offsets[i] : self._offsets[i + 1]], "utf-8")

    @cached_property
    def words(self) -> list[str]:
        """All words as strings, some hundred bytes each."""
        return [self.word(i) for i in range(len(self))]

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` where a word is not in the vocabulary."""
        if len(words) > MAX_CACHED_LIST:
            return self._look_up(words, missing)
        cached = list(map(self._cached_ids.get, words))
        if None in cached:
            uncached = [word for word, i in zip(words, cached) if i is None]
            new_ids = dict(zip(uncached, self._look_up(uncached, ABSENT).tolist()))
            cached = [new_ids[word] if i is None else i for word, i in zip(words, cached)]
            self._cache(new_ids)
        ids = np.array(cached, np.int32)
        if missing != ABSENT:
            ids[ids == ABSENT] = missing
        return ids

    def _look_up(self, words: Sequence[str], missing: int) -> np.ndarray:
        ids = np.empty(len(words), np.int32)
        _find(self.encoded, self.slots, encode(words), np.int32(missing), ids)
        return ids

    def _cache(self, ids: dict[str, int]) -> None:
        if len(self._cached_ids) > CACHE_SIZE:
            self._cached_ids = {}
        self._cached_ids.update(ids)


def _read(path: str | Path) -> Words:
    """The lines of a file. Raises FormatError if it is not UTF-8, ends within a line, or has too many."""
    with named_in_errors(Path(path)):
        text = np.fromfile(path, np.uint8)
    try:
        str(text.data, "utf-8")
    except UnicodeDecodeError:
        for _ in read_lines(path):  # raises FormatError that names the line
            pass
    if text.size and text[-1] != NEWLINE:
        raise FormatError(path, "ends within a line; copy the model again")
    n_words = int(np.count_nonzero(text == NEWLINE))
    if n_words > MOST_WORDS:
        raise FormatError(path, f"{n_words} words, expected at most {MOST_WORDS}; train the model again")
    words = Words(np.empty(text.size - n_words, np.uint8), np.empty(n_words + 1, np.int64))
    _split_lines(text, words)
    return words


class GrowingVocabulary(FixedVocabulary):
    """The words of `known`, and behind them new ones; `encoded` and `slots` have the known ones alone."""

    def __init__(self, known: FixedVocabulary):
        self._known, self._new = known, Vocabulary()
        self.encoded, self.slots = known.encoded, known.slots
        self._words: list[str] = []  # all of them, when they were asked for last

    def __len__(self) -> int:
        return len(self._known) + len(self._new)

    def word(self, i: int) -> str:
        first = len(self._known)
        return self._known.word(i) if i < first else self._new.words[i - first]

    @property
    def words(self) -> list[str]:
        if len(self._words) != len(self):
            self._words = self._known.words + self._new.words
        return self._words

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        ids = self._known.ids(words)
        for i in np.flatnonzero(ids < 0).tolist():
            new = self._new.index.get(words[i], -1)
            ids[i] = len(self._known) + new if new >= 0 else missing
        return ids

    def add(self, words: Sequence[str]) -> np.ndarray:
        """int32[len(words)] ids of `words`, of which those that are not there yet are added."""
        ids = self._known.ids(words)
        for i in np.flatnonzero(ids < 0).tolist():
            ids[i] = len(self._known) + self._new.add(words[i])
        return ids
