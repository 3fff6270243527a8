"""Words and their ids: 0, 1, 2, ... in the order in which words first occur."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from phrasebeam.base.files import atomic_file

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"


class Vocabulary:
    """A growing list of distinct words; a word's id is its index in the list."""

    def __init__(self, words: Iterable[str] = ()):
        self.words: list[str] = []
        self.index: dict[str, int] = {}
        for word in words:
            self.add(word)

    def __len__(self) -> int:
        return len(self.words)

    def add(self, word: str) -> int:
        """The id of `word`, which is added if it is new."""
        word_id = self.index.setdefault(word, len(self.words))
        if word_id == len(self.words):
            self.words.append(word)
        return word_id

    def add_all(self, words: list[str]) -> np.ndarray:
        """int32[len(words)] ids of `words`; new words are added."""
        return np.array([self.add(word) for word in words], np.int32)

    def ids(self, words: list[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` if a word is not in the vocabulary."""
        return np.array([self.index.get(word, missing) for word in words], np.int32)

    def save(self, path: str | Path) -> None:
        """Write one word per line, in order of ids, as FixedVocabulary reads them."""
        with atomic_file(path) as file:
            file.write("".join(f"{word}\n" for word in self.words).encode("utf-8"))
