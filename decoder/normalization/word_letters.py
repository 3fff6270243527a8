"""Words as letters: as sentences of a model of letters, and as numbers for kernels."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tokenizers.simple_tokenizers import CLUSTER, CharacterTokenizer

# They stand before the first and behind the last letter, so that phrases know the edges of words.
WORD_START, WORD_END = "␂", "␃"
NO_LETTER, OTHER_LETTER, FIRST_LETTER = 0, 1, 2  # numbers: nothing on that side, a letter that training did not see
_characters = CharacterTokenizer()


class LetterTexts(NamedTuple):
    """N words as numbers of letters; word i is letters[first[i]:first[i + 1]]."""

    letters: np.ndarray  # int32[L]
    first: np.ndarray  # int64[N + 1]


class Alphabet:
    """The letters that training saw, numbered; a letter is a grapheme cluster."""

    def __init__(self, letters: Sequence[str]):
        self.letters = list(letters)
        self._numbers = {letter: number for number, letter in enumerate(letters, FIRST_LETTER)}

    @classmethod
    def of(cls, words: Iterable[str]) -> "Alphabet":
        """The alphabet of these words."""
        return cls(sorted({letter for word in words for letter in CLUSTER.findall(word)}))

    @property
    def size(self) -> int:
        """How many numbers there are, with those that are no letters."""
        return FIRST_LETTER + len(self.letters)

    def texts(self, words: Sequence[str]) -> LetterTexts:
        """The words as numbers."""
        spelled = [CLUSTER.findall(word) for word in words]
        sizes = np.fromiter(map(len, spelled), np.int64, len(words))
        letters = [self._numbers.get(letter, OTHER_LETTER) for word in spelled for letter in word]
        return LetterTexts(np.array(letters, np.int32), np.append(np.int64(0), np.cumsum(sizes)))


def letter_tokens(word: str) -> list[str]:
    """A word as a sentence of a model of letters, with its edges."""
    return [WORD_START, *_characters.tokens(word), WORD_END]


def word_of_letters(text: str) -> str:
    """The word that a translation by a model of letters stands for."""
    return _characters.text(token for token in text.split() if token not in (WORD_START, WORD_END))
