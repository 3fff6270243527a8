"""Tokenized text as word ids: one flat array and where each sentence begins in it."""

import re
from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import read_lines
from phrasebeam.lm.text.vocabulary import Vocabulary

SPACES = re.compile(r"[ \t\r\n\v\f]+")


class Corpus(NamedTuple):
    """Sentence i is tokens[offsets[i]:offsets[i + 1]]."""

    offsets: np.ndarray  # int64[N + 1]
    tokens: np.ndarray  # int32[T], word ids

    def sentence(self, i: int) -> np.ndarray:
        """int32[n] word ids of sentence `i`, a view."""
        return self.tokens[self.offsets[i] : self.offsets[i + 1]]


def read_corpus(path: str | Path, vocabulary: Vocabulary) -> Corpus:
    """One sentence a line, words separated by white space (ASCII); new words are added to `vocabulary`."""
    offsets, tokens = array("q", [0]), array("i")  # a list would hold 8 bytes a word, and an object a sentence
    for line in read_lines(path):
        tokens.extend([vocabulary.add(word) for word in split(line)])
        offsets.append(len(tokens))
    return Corpus(np.array(offsets, np.int64), np.array(tokens, np.int32))


def split(line: str) -> list[str]:
    """Words of a line: only ASCII white space separates them, since U+00A0 and U+3000 occur inside words."""
    return [word for word in SPACES.split(line) if word]
