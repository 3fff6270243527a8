"""A vocabulary that kernels fill while they read text as bytes."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from phrasebeam.base.files import atomic_file
from phrasebeam.kernels.hashing import n_slots
from phrasebeam.kernels.jit import inner_kernel
from phrasebeam.lm.text.encoded_words import EMPTY, Words, WordTable, encode, fill_slots, find_words

FIRST_WORDS, FIRST_BYTES = 1 << 10, 1 << 13  # initial room of a vocabulary


@inner_kernel
def has_room(table: WordTable, n_bytes):
    """Whether there is room to add all words of a text of `n_bytes` (int64)."""
    n_words = table.n_words[0]
    most = n_words + n_bytes // 2 + 1
    return (
        most < table.words.offsets.size
        and 2 * most < table.slots.size
        and table.words.offsets[n_words] + n_bytes <= table.words.data.size
    )


class TextVocabulary:
    """Distinct words with ids 0, 1, 2, ... in the order in which they were added."""

    def __init__(self, words: Sequence[str] = ()):
        """`words` must be distinct."""
        self._take(encode(words), len(words) + FIRST_WORDS, FIRST_BYTES)
        self._strings = list(words)  # of the words requested so far

    def _take(self, words: Words, n_words: int, n_bytes: int) -> None:
        """Make a table of `words` with room for `n_words` in all, and for `n_bytes` of new words."""
        size = words.offsets.size - 1
        data, offsets = np.empty(words.data.size + n_bytes, np.uint8), np.empty(n_words + 1, np.int64)
        data[: words.data.size], offsets[: size + 1] = words.data, words.offsets
        slots = np.full(n_slots(n_words), EMPTY)
        fill_slots(words, slots)
        self.table = WordTable(Words(data, offsets), slots, np.array([size]))

    def make_room(self, n_bytes: int) -> None:
        """Replace `table` by one with room for all words of a text of `n_bytes`."""
        words = self.encoded
        self._take(words, 2 * (len(self) + n_bytes), words.data.size + 2 * n_bytes)

    def __len__(self) -> int:
        return int(self.table.n_words[0])

    @property
    def encoded(self) -> Words:
        """The bytes of all words, a view."""
        offsets = self.table.words.offsets[: len(self) + 1]
        return Words(self.table.words.data[: offsets[-1]], offsets)

    @property
    def words(self) -> list[str]:
        """All words as strings."""
        first = len(self._strings)
        data, ends = self.encoded.data.tobytes(), self.encoded.offsets[first:].tolist()
        self._strings += [data[begin:end].decode("utf-8") for begin, end in pairwise(ends)]
        return self._strings

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` if a word is not in the vocabulary."""
        ids = np.empty(len(words), np.int32)
        find_words(self.table.words, self.table.slots, encode(words), np.int64(missing), ids)
        return ids

    def save(self, path: str | Path) -> None:
        """Write one word per line, in order of ids, as FixedVocabulary reads them."""
        with atomic_file(path) as file:
            file.write("".join(f"{word}\n" for word in self.words).encode("utf-8"))
