"""Backoff levels of sparse features: the classes of words, as text and as hashes (Yu et al. 2013, Table 1)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field, model_validator

from phrasebeam.base.config import Section
from phrasebeam.decoder.sparse.text_hashes import hash_texts
from phrasebeam.decoder.tables.model_paths import LARGEST_TEXT, model_file
from phrasebeam.decoder.tables.word_counts import FrequentWords
from phrasebeam.kernels.jit import inlined_kernel
from phrasebeam.lm.text.vocabulary import BEGIN, END
from phrasebeam.lm.text.word_classes import read_class_map

if TYPE_CHECKING:
    from phrasebeam.decoder.sparse.sparse_features import Sparse

LARGEST_BUDGET = 1000  # costs are relative to each other
LevelKind = Literal["word", "characters", "classes", "type"]
WORD = np.int64(0)  # column of the words themselves among the levels
UNCLASSED = "?"  # class of a word that the map does not have
NO_CLASSES = np.zeros((0, 1), np.uint64)
NO_CONTENT = np.zeros(0, np.bool_)  # see Levels.content_words


class Level(Section):
    """A backoff level: how words are classed, and the cost of a word at this level (Yu et al. 2013, Table 1)."""

    kind: LevelKind = Field(description="the word; its first characters; its class in a map; numeral, mark or other")
    budget: int = Field(ge=1, le=LARGEST_BUDGET, description="what one of these adds to the cost of a combination")
    source: str = Field(
        default="", description="map of source words to classes: lines `class word count` or `word class`"
    )
    target: str = Field(default="", description="the same of target words")
    prefix: int = Field(
        default=0, ge=0, le=255, description="characters of the class or the word that count, 0 for all"
    )

    @model_validator(mode="after")
    def _has_maps(self) -> "Level":
        if {self.kind == "classes"} != {bool(self.source), bool(self.target)}:
            raise ValueError("source and target are the maps of a level of kind classes, and needed there")
        if self.kind == "characters" and not self.prefix:
            raise ValueError("prefix says how many characters count; give 1 or more")
        return self

    @property
    def name(self) -> str:
        """The name of the level in the names of features."""
        return f"{self.kind}{self.prefix or ''}"


class Levels:
    """The classes of words: column 0 is the word itself, the others are its classes at each level.

    A source word is a content word unless it is frequent, a mark or a number.
    """

    def __init__(self, levels: Sequence[Level], directory: Path, frequent: FrequentWords):
        """Read the class maps of the levels from `directory`. Raises SmtError where one is missing or wrong."""
        self.levels, self.labels, self.frequent = levels, ["word", *(level.name for level in levels)], frequent
        self._maps = {
            side: [_read_map(directory, getattr(level, side)) for level in levels] for side in ("source", "target")
        }

    @property
    def class_column(self) -> int:
        """The column of the first level of kind classes, or WORD, which is 0, without one."""
        return next((i for i, level in enumerate(self.levels, 1) if level.kind == "classes"), int(WORD))

    def names(self, side: str, word: str) -> list[str]:
        """The word and its class at each level; `side` is "source" or "target"."""
        return [word, *(_class_of(level, classes, word) for level, classes in zip(self.levels, self._maps[side]))]

    def classes(self, side: str, words: Iterable[str]) -> np.ndarray:
        """uint64[W, 1 + L] hashes of `words` and their classes at L levels."""
        rows = [self.names(side, word) for word in words]
        texts = [f"{label}={name}" for row in rows for label, name in zip(self.labels, row)]
        return hash_texts(texts).reshape(len(rows), len(self.labels))

    def sentence_classes(self, words: Sequence[str]) -> np.ndarray:
        """uint64[n + 2, 1 + L] hashes of a source sentence of n words between its boundaries."""
        return self.classes("source", [BEGIN, *words, END])

    def is_content(self, word: str) -> bool:
        """Whether a source word is a content word."""
        return word not in self.frequent.source and word_type(word) in ("word", "mixed")

    def content_words(self, words: Sequence[str]) -> np.ndarray:
        """bool[n], which words of a source sentence are content words."""
        return np.array([self.is_content(word) for word in words], np.bool_)


def _read_map(directory: Path, name: str) -> dict[str, str]:
    return read_class_map(model_file(directory, name, LARGEST_TEXT)) if name else {}


def _class_of(level: Level, classes: dict[str, str], word: str) -> str:
    if level.kind == "type":
        return word_type(word)
    text = classes.get(word, UNCLASSED) if level.kind == "classes" else word
    return text[: level.prefix] if level.prefix else text


def word_type(word: str) -> str:
    """The type of a word: number, mixed with a digit, mark, boundary or word (Yu et al. 2013 do not say which four)."""
    if word in (BEGIN, END):
        return "boundary"
    if not any(c.isalnum() for c in word):
        return "mark"
    if any(c.isdigit() for c in word):
        return "number" if not any(c.isalpha() for c in word) else "mixed"
    return "word"


@inlined_kernel
def target_class(sparse: "Sparse", synthetic, word, column):
    """uint64 hash of the class of a target word at the level `column` (int64), 0 for the word itself.

    `word` (int64) is an id, at or above the size of the vocabulary for words of `synthetic` (SyntheticPairs).
    """
    n_words = sparse.target_classes.shape[0]
    return sparse.target_classes[word, column] if word < n_words else synthetic.classes[word - n_words, column]
