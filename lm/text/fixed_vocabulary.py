"""An immutable vocabulary: the bytes of its words and a hash table over them, some 40 bytes per word.

A million words are indexed in a tenth of a second; a word becomes a Python string only when it is requested.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.kernels.hashing import n_slots
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.encoded_words import EMPTY, NO_DUPLICATE, Words, encode, fill_slots, find_words
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.process.system_errors import named_in_errors

NEWLINE = 10
MOST_WORDS = 2**25  # 40 bytes each; the size of model files is checked where they are opened
ABSENT = -1  # cached id of a word that is not in the vocabulary
MAX_CACHED_LIST = 1 << 10  # words, enough for a sentence: ids of longer lists are not cached
CACHE_SIZE = 1 << 15  # words


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


class FixedVocabulary:
    """Distinct words with ids 0, 1, 2, ..., from a file that Vocabulary.save wrote."""

    def __init__(self, path: str | Path):
        """Read the file. Raises FormatError if it is not UTF-8, ends within a line, or has a word twice."""
        self.encoded = _read(path)
        self._view_bytes()
        self._cached_ids: dict[str, int] = {}  # ids, or ABSENT, of words that were looked up
        self.slots = np.full(n_slots(len(self)), EMPTY)  # uint64, see WordTable
        duplicate = int(fill_slots(self.encoded, self.slots))
        if duplicate != NO_DUPLICATE:
            word = excerpt(self.word(duplicate))
            raise FormatError(path, f"the word {word} is here twice; train the model again", duplicate + 1)

    def _view_bytes(self) -> None:
        """Make memoryviews of the words, which are faster to index than arrays."""
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
        """int32[len(words)] ids of `words`; `missing` if a word is not in the vocabulary."""
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
        find_words(self.encoded, self.slots, encode(words), np.int64(missing), ids)
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
        for _ in read_lines(path):  # raises FormatError, naming the line
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
    """The words of `known`, followed by new words; `encoded` and `slots` contain only the known ones."""

    def __init__(self, known: FixedVocabulary):
        self._known, self._new = known, Vocabulary()
        self.encoded, self.slots = known.encoded, known.slots
        self._words: list[str] = []  # all words, cached by the last request

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
        """int32[len(words)] ids of `words`; new words are added."""
        ids = self._known.ids(words)
        for i in np.flatnonzero(ids < 0).tolist():
            ids[i] = len(self._known) + self._new.add(words[i])
        return ids

    def add_all(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """The ids of the words of sentences; new words are added, as by `add`."""
        ids = self.add(list(chain.from_iterable(sentences)))
        return np.split(ids, np.cumsum([len(words) for words in sentences])[:-1])
