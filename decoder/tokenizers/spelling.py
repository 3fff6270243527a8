"""Words as letters: as sentences for a model of letters."""

import unicodedata
from dataclasses import dataclass

from phrasebeam.decoder.tokenizers.escapes import SPACE, escaped, unescaped

# These marks stand before the first and after the last letter, so that phrases see the edges of words.
WORD_START, WORD_END = "␂", "␃"


@dataclass(frozen=True)
class Spelling:
    """Division of a word into letters: characters and combining marks, or symbols between spaces, such as sounds."""

    is_spaced: bool = False

    def letters(self, word: str) -> list[str]:
        return word.split(" ") if self.is_spaced else list(unicodedata.normalize("NFD", word))

    def tokens(self, word: str) -> list[str]:
        """A word as a sentence for a model of letters, with its edges marked."""
        letters = [SPACE if letter == " " else escaped(letter) for letter in self.letters(word)]
        return [WORD_START, *letters, WORD_END]

    def word(self, text: str) -> str:
        """The word that a translation by a model of letters represents."""
        tokens = [token for token in text.split(" ") if token not in (WORD_START, WORD_END)]
        if self.is_spaced:
            return unescaped(" ".join(tokens))
        return unicodedata.normalize("NFC", unescaped("".join(tokens).replace(SPACE, " ")))


OF_WORDS = Spelling()
