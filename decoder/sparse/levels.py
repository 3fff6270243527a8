"""Backoff levels of sparse features: the classes of words, as text and as hashes (Yu et al. 2013, Table 1).

Word edges are combinations of the words at the edges of a phrase pair and around it, each at one of the levels (Yu et
al. 2013, section 4.1). There is one group for each combination of sides: source phrase, target phrase, and neighbours
of the source phrase. The groups differ in their value beside dense features, so each has its own scale.

A level of tags, such as parts of speech (Green et al. 2013, section 3.2), classifies single tokens of the source
sentence. Target words have tags only through a map, for example the most frequent tag of each word. No feature has a
class of target words at levels without such a map, or at levels for the source alone.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, product, repeat
from math import comb
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from phrasebeam.base.config import FileName, Section
from phrasebeam.decoder.tables.model_paths import LARGEST_TEXT, model_file
from phrasebeam.decoder.tables.text_hashes import hash_texts
from phrasebeam.decoder.tables.word_counts import FrequentWords
from phrasebeam.lm.text.vocabulary import BEGIN, END
from phrasebeam.lm.text.word_classes import read_word_classes

LARGEST_BUDGET = 1000  # costs matter only relative to each other
LONGEST_LIST = 20_000  # words; four lists of them are part of the values that a YAML file may have
LevelKind = Literal["word", "characters", "classes", "type", "tags"]
WORD = np.int64(0)  # column of the words themselves among the levels
UNCLASSED = "?"  # class of a word that the map lacks, and tag of a token without one
ABSENT = -1  # replaces a level
KINDS = {
    "source_edges": ("source",),
    "target_edges": ("target",),
    "context_edges": ("context",),
    "source_target_edges": ("source", "target"),
    "source_context_edges": ("source", "context"),
    "target_context_edges": ("target", "context"),
    "all_edges": ("source", "target", "context"),
}
SIDE_TEXTS = {
    "source": "edges of the source phrase",
    "target": "edges of the target phrase",
    "context": "neighbours of the source phrase",
}
# Columns of a combination: edges of the source and of the target phrase, source words around; then LENGTH, whether it
# includes the length of the source phrase, and KIND, its index in KINDS
POSITIONS = ("first_source", "last_source", "first_target", "last_target", "before", "behind")
SIDES = ("source", "source", "target", "target", "context", "context")  # of each position
LENGTH, KIND = np.int64(len(POSITIONS)), np.int64(len(POSITIONS) + 1)
NO_CLASSES = np.zeros((0, 1), np.uint64)
NO_CONTENT = np.zeros(0, np.bool_)  # see Levels.content_words


class Level(Section):
    """A backoff level: how words are represented, and the cost of a word at this level (Yu et al. 2013, Table 1)."""

    kind: LevelKind = Field(
        description=(
            "how a word is represented. word: by itself; characters: by its first or last characters; "
            "classes: by its class in a map; type: as number, punctuation or other; tags: by its tag"
        )
    )
    budget: int = Field(ge=1, le=LARGEST_BUDGET, description="cost that a word at this level adds to a combination")
    source: FileName = Field(
        default="", description="file that maps source words to classes: lines `class word count` or `word class`"
    )
    target: FileName = Field(default="", description="the same for target words; for tags, a map to tags")
    source_only: bool = Field(
        default=False, description="use this level only for source words (in Table 1 characters and type)"
    )
    prefix: int = Field(
        default=0, ge=0, le=255, description="number of first characters of word, class or tag to use; 0: all"
    )
    suffix: int = Field(
        default=0, ge=0, le=255, description="number of last characters of the word to use, instead of a prefix"
    )
    content: list[str] = Field(default=[], description="first letters of the tags of content words")

    @model_validator(mode="after")
    def _has_maps(self) -> "Level":
        has_map = self.kind == "classes"
        if has_map != bool(self.source) or (has_map and bool(self.target) == self.source_only):
            raise ValueError(
                "levels of kind classes need source and target, or only source with source_only; other levels have none"
            )
        if self.target and (self.source_only or self.kind not in ("classes", "tags")):
            raise ValueError(
                "target is a map of target words; give it to levels of kind classes or tags that have some"
            )
        if self.kind == "characters" and not (self.prefix or self.suffix):
            raise ValueError("prefix or suffix is the number of characters; give 1 or more")
        if self.suffix and (self.prefix or self.kind != "characters"):
            raise ValueError("suffix is for kind characters, instead of prefix; give one of the two")
        if self.content and self.kind != "tags":
            raise ValueError("content is for tags; give it to a level of kind tags")
        return self

    @property
    def name(self) -> str:
        """The name of the level in the names of features."""
        return f"last_{self.kind}{self.suffix}" if self.suffix else f"{self.kind}{self.prefix or ''}"

    @property
    def has_target(self) -> bool:
        """Whether target words have classes at this level."""
        return not self.source_only and (self.kind != "tags" or bool(self.target))


class WordLists(Section):
    """The words that have features; without a list, all words have features."""

    inserted: list[str] | None = Field(default=None, max_length=LONGEST_LIST, description="words for inserted_words")
    deleted: list[str] | None = Field(default=None, max_length=LONGEST_LIST, description="words for deleted_words")
    pair_source: list[str] | None = Field(
        default=None, max_length=LONGEST_LIST, description="source words for word_pairs"
    )
    pair_target: list[str] | None = Field(
        default=None, max_length=LONGEST_LIST, description="target words for word_pairs"
    )


class Levels:
    """The classes of words: column 0 is the word itself, the others are its classes at each level.

    A source word is a content word if its tag begins as `content` of the first level of tags says. If `content` is not
    given, every word is one unless it is frequent, a mark or a number.
    """

    def __init__(
        self,
        levels: Sequence[Level],
        directory: Path,
        frequent: FrequentWords,
        lists: WordLists = WordLists(),  # noqa: B008
    ):
        """Read the class maps of the levels from `directory`. Raises SmtError if one is missing or invalid."""
        self.listed = {name: None if words is None else frozenset(words) for name, words in lists}
        self.levels, self.labels, self.frequent = levels, ["word", *(level.name for level in levels)], frequent
        self._maps = {
            side: [_read_map(directory, getattr(level, side)) for level in levels] for side in ("source", "target")
        }
        self._content = next((tuple(level.content) for level in levels if level.kind == "tags"), ())

    @property
    def class_column(self) -> int:
        """The column of the first level of kind tags, else of kind classes; WORD, which is 0, if there is neither."""
        columns = [i for kind in ("tags", "classes") for i, level in enumerate(self.levels, 1) if level.kind == kind]
        return columns[0] if columns else int(WORD)

    @property
    def target_columns(self) -> list[int]:
        """The columns of the levels that have classes of target words."""
        return [i for i, level in enumerate(self.levels, 1) if level.has_target]

    def names(self, side: str, word: str, tag: str = UNCLASSED) -> list[str]:
        """The word and its class at each level; `side` is "source" or "target", `tag` the tag of the source token."""
        return [word, *(_class_of(level, classes, word, tag) for level, classes in zip(self.levels, self._maps[side]))]

    def classes(self, side: str, words: Iterable[str], tags: Iterable[str] = repeat(UNCLASSED)) -> np.ndarray:
        """uint64[W, 1 + L] hashes of `words` and their classes at L levels."""
        rows = [self.names(side, word, tag) for word, tag in zip(words, tags)]
        texts = [f"{label}={name}" for row in rows for label, name in zip(self.labels, row)]
        return hash_texts(texts).reshape(len(rows), len(self.labels))

    def sentence_classes(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """uint64[n + 2, 1 + L] hashes of a source sentence of n words, including its boundaries."""
        return self.classes("source", [BEGIN, *words, END], [BEGIN, *tags, END])

    def is_content(self, word: str, tag: str) -> bool:
        """Whether a source token is a content word."""
        if self._content:
            return tag.startswith(self._content)
        return word not in self.frequent.source and word_type(word) in ("word", "mixed")

    def content_words(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """bool[n], which words of a source sentence are content words."""
        return np.array([self.is_content(word, tag) for word, tag in zip(words, tags)], np.bool_)


def _read_map(directory: Path, name: str) -> dict[str, str]:
    return read_word_classes(model_file(directory, name, LARGEST_TEXT)) if name else {}


def _class_of(level: Level, classes: dict[str, str], word: str, tag: str) -> str:
    if level.kind == "type":
        return word_type(word)
    if level.suffix:
        return word[-level.suffix :]
    if level.kind == "classes" or classes:
        text = classes.get(word, UNCLASSED)
    else:
        text = tag if level.kind == "tags" else word
    return text[: level.prefix] if level.prefix else text


def word_type(word: str) -> str:
    """The type of a word: number, mixed with a digit, mark, boundary or word (Yu et al. 2013 do not name the four)."""
    if word in (BEGIN, END):
        return "boundary"
    if not any(c.isalnum() for c in word):
        return "mark"
    if any(c.isdigit() for c in word):
        return "number" if not any(c.isalpha() for c in word) else "mixed"
    return "word"


class WordEdges(Section):
    """Which combinations of first and last words of both phrases and of neighbouring source words are features."""

    budget: int = Field(default=10, ge=1, le=LARGEST_BUDGET, description="maximum total cost of a combination")
    most_words: int = Field(default=2, ge=1, le=6, description="maximum number of words in a combination")
    with_length: bool = Field(
        default=True, description="add each combination also together with the length of the source phrase"
    )


def n_word_edges(settings: WordEdges, levels: Sequence[Level]) -> int:
    """The number of combinations within the budget, computed without making them."""
    total, n_target = 0, SIDES.count("target")
    of_target, most_words = [level for level in levels if level.has_target], settings.most_words
    for size in range(most_words + 1):
        for n_others in range(min(size, len(SIDES) - n_target) + 1):
            ways = Counter({0: 1})  # number of ways to choose words, by total cost
            for some in [levels] * n_others + [of_target] * (size - n_others):
                longer = Counter[int]()
                for (cost, n), level in product(ways.items(), some):
                    if cost + level.budget <= settings.budget:
                        longer[cost + level.budget] += n
                ways = longer
            total += comb(len(SIDES) - n_target, n_others) * comb(n_target, size - n_others) * ways.total()
    return (total - 1) * (1 + settings.with_length)


def word_edges(settings: WordEdges, levels: Sequence[Level]) -> np.ndarray:
    """int8[C, 8] combinations within the budget (Yu et al. 2013, section 4.2), the smaller ones first.

    Columns: the level at each of POSITIONS (from 1, or ABSENT), then LENGTH and KIND.
    """
    rows = []
    for size in range(1, settings.most_words + 1):
        for positions in combinations(range(len(POSITIONS)), size):
            kind = list(KINDS.values()).index(tuple(dict.fromkeys(SIDES[position] for position in positions)))
            for chosen in product(range(len(levels)), repeat=size):
                sides = [SIDES[position] for position in positions]
                is_classed = all(side != "target" or levels[i].has_target for side, i in zip(sides, chosen))
                if not is_classed or sum(levels[i].budget for i in chosen) > settings.budget:
                    continue
                row = [ABSENT] * len(POSITIONS)
                for position, level in zip(positions, chosen):
                    row[position] = 1 + level
                rows += [[*row, with_length, kind] for with_length in range(1 + settings.with_length)]
    return np.array(rows, np.int8).reshape(-1, len(POSITIONS) + 2)
