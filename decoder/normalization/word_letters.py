"""Words as letters: as numbers for kernels."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tokenizers.spelling import OF_WORDS, Spelling

NO_LETTER, OTHER_LETTER, FIRST_LETTER = 0, 1, 2  # numbers: no letter, a letter that training did not see


class LetterTexts(NamedTuple):
    """N words as numbers of letters; word i is letters[first[i]:first[i + 1]]."""

    letters: np.ndarray  # int32[L]
    first: np.ndarray  # int64[N + 1]


class Alphabet:
    """The letters that training saw in words and forms, numbered; `of_forms`: how forms are divided into letters."""

    def __init__(self, letters: Sequence[str], of_forms: Spelling = OF_WORDS):
        self.letters, self.of_forms = list(letters), of_forms
        self._numbers = {letter: number for number, letter in enumerate(letters, FIRST_LETTER)}

    @classmethod
    def of(cls, words: Iterable[str], forms: Iterable[str] = (), of_forms: Spelling = OF_WORDS) -> "Alphabet":
        """The alphabet of these words and forms."""
        found = {letter for word in words for letter in OF_WORDS.letters(word)}
        return cls(sorted(found | {letter for form in forms for letter in of_forms.letters(form)}), of_forms)

    @property
    def size(self) -> int:
        """Number of ids, including the two that are not letters seen in training."""
        return FIRST_LETTER + len(self.letters)

    def texts(self, words: Sequence[str]) -> LetterTexts:
        """Words as numbers."""
        return self._texts(words, OF_WORDS)

    def form_texts(self, forms: Sequence[str]) -> LetterTexts:
        """Forms as numbers."""
        return self._texts(forms, self.of_forms)

    def _texts(self, words: Sequence[str], spelling: Spelling) -> LetterTexts:
        spelled = [spelling.letters(word) for word in words]
        sizes = np.fromiter(map(len, spelled), np.int64, len(words))
        letters = [self._numbers.get(letter, OTHER_LETTER) for word in spelled for letter in word]
        return LetterTexts(np.array(letters, np.int32), np.append(np.int64(0), np.cumsum(sizes)))
