"""Tokenized text as word ids: one flat array and where each sentence begins in it."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lm.files import read_lines
from lm.vocabulary import Vocabulary

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
    offsets, pieces, total = [0], [], 0
    for line in read_lines(path):
        ids = vocabulary.add_all(split(line))
        total += ids.size
        offsets.append(total)
        pieces.append(ids)
    tokens = np.concatenate(pieces) if pieces else np.zeros(0, np.int32)
    return Corpus(np.array(offsets, np.int64), tokens)


def split(line: str) -> list[str]:
    """Words of a line: only ASCII white space separates them, since U+00A0 and U+3000 occur inside words."""
    return [word for word in SPACES.split(line) if word]
