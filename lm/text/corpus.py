"""Tokenized text as word ids: one flat array, with the offset of each sentence."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, excerpt

Words = Callable[[str], Sequence[str]]  # returns the words of a line
SPACES = re.compile(r"[ \t\r\n\v\f]+")


class Corpus(NamedTuple):
    """N sentences of T words; sentence i is tokens[offsets[i]:offsets[i + 1]]."""

    offsets: np.ndarray  # int64[N + 1]
    tokens: np.ndarray  # int32[T], word ids

    def sentence(self, i: int) -> np.ndarray:
        """int32[n] word ids of sentence `i`, a view."""
        return self.tokens[self.offsets[i] : self.offsets[i + 1]]


def split(line: str) -> list[str]:
    """The words of a line, separated by ASCII white space only, since U+00A0 and U+3000 occur inside words."""
    return [word for word in SPACES.split(line) if word]


def words_of(given: str | Sequence[str]) -> Sequence[str]:
    """The words of a line, or the given list of words. Raises ConfigError if an item of the list is not a word.

    An item with white space is most likely one of several sentences.
    """
    if isinstance(given, str):
        return split(given)
    if not isinstance(given, Sequence) or not all(isinstance(word, str) for word in given):
        raise ConfigError(f"the words are {excerpt(given)}, expected a tokenized line, or a list of its words")
    if SPACES.search("".join(given)) or not all(given):
        word = next(word for word in given if not word or SPACES.search(word))
        advice = "give a tokenized line, or a list of its words; translate_all and the like take several sentences"
        raise ConfigError(f"the word {excerpt(word)} {'has white space in it' if word else 'is empty'}; {advice}")
    return given
