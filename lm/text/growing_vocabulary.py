"""A vocabulary of a model to which new words are added in memory; the model's own words keep their ids."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary


class GrowingVocabulary(FixedVocabulary):
    """The words of `known`, and behind them new ones; `encoded` has the known ones alone."""

    def __init__(self, known: FixedVocabulary):
        self._known, self._new = known, Vocabulary()
        self.encoded = known.encoded

    def __len__(self) -> int:
        return len(self._known) + len(self._new)

    def word(self, i: int) -> str:
        """The word with id `i`."""
        first = len(self._known)
        return self._known.word(i) if i < first else self._new.words[i - first]

    @property
    def words(self) -> list[str]:
        """All words as strings."""
        return self._known.words + self._new.words

    def ids(self, words: Sequence[str], missing: int = -1) -> np.ndarray:
        """int32[len(words)] ids of `words`; `missing` where a word is not in the vocabulary."""
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
