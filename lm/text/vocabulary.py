"""Words and their ids: 0, 1, 2, ... in the order in which they were first met."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from phrasebeam.base.files import atomic_file

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"


class Vocabulary:
    """A list of distinct words; a word's id is its place in the list."""

    def __init__(self, words: Iterable[str] = ()):
        self.words: list[str] = []
        self.index: dict[str, int] = {}
        for word in words:
            self.add(word)

    def __len__(self) -> int:
        return len(self.words)

    def add(self, word: str) -> int:
        """The id of `word`, which is given one if it is new."""
        found = self.index.setdefault(word, len(self.words))
        if found == len(self.words):
            self.words.append(word)
        return found

    def add_all(self, words: list[str]) -> np.ndarray:
        """int32[len(words)] ids of `words`, new ones added."""
        return np.array([self.add(word) for word in words], np.int32)

    def ids(self, words: list[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` where a word is not in the vocabulary."""
        return np.array([self.index.get(word, missing) for word in words], np.int32)

    def save(self, path: str | Path) -> None:
        """One word a line, in the order of their ids; FixedVocabulary reads them."""
        with atomic_file(path) as file:
            file.write("".join(f"{word}\n" for word in self.words).encode("utf-8"))
