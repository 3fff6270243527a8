"""A sentence to translate, with instructions for its translation as in Moses: terms, walls, zones, a prefix.

Alternatively a word lattice, of which one path is to be translated, without instructions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from phrasebeam.base.checked_arguments import check_fields
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.input.input_settings import TermPolicy
from phrasebeam.decoder.input.word_lattice import Scores, WordLattice
from phrasebeam.lm.text.corpus import split, words_of

LeaveOneOut = Literal["drop", "penalty", "singletons"]
LEAVE_ONE_OUT = (
    "how to treat phrase pairs that come only from the sentence pair itself: drop them, or penalty; "
    "singletons: drop all pairs that were extracted once"
)

LONGEST_TERM = COVERAGE_WINDOW - 1  # words; a coverage must have room for it


def split_lines(given: object, *names: str) -> None:
    """Split the fields `names` of a frozen dataclass into words if they are tokenized lines, and check all others.

    Raises ConfigError if a list of words contains something else, or another field does not have its type.
    """
    for name in names:
        value = getattr(given, name)
        words = words_of(value)
        if words is not value:
            object.__setattr__(given, name, tuple(words))
    check_fields(given, *names)


@dataclass(frozen=True)
class Term:
    """A given translation of the words begin:end; its log probability is divided among the phrase table's scores."""

    begin: int
    end: int
    target: tuple[str, ...]  # or a tokenized line
    probability: float = 1.0
    alignment: tuple[tuple[int, int], ...] = ()  # (source, target) positions inside the term
    written: str = ""  # the target as written in raw text, if raw text is translated
    is_optional: bool = False  # whether its words may also be translated otherwise, whatever the policy

    def __post_init__(self) -> None:
        split_lines(self, "target")


@dataclass(frozen=True)
class Prefix:
    """Words with which a translation must begin; if `is_partial`, the last is the beginning of a word."""

    words: tuple[str, ...] = ()  # or a tokenized line
    is_partial: bool = False

    def __post_init__(self) -> None:
        split_lines(self, "words")

    @classmethod
    def read(cls, line: str, partial_word: bool = False) -> "Prefix":
        """The prefix in a tokenized line; with `partial_word`, its last word is unfinished unless space follows it."""
        return cls(tuple(split(line)), partial_word and not line[-1:].isspace())


@dataclass(frozen=True)
class HeldOutPair:
    """The training sentence pair of an input, for leave-one-out: its counts are subtracted from the phrase table."""

    reference: tuple[str, ...]  # or a tokenized line
    alignment: tuple[tuple[int, int], ...]  # (source, target) positions; the alignment on which the model was trained
    mode: LeaveOneOut = "drop"
    fold: int | None = None  # number of the language model trained without the sentence
    more_alignments: tuple[tuple[tuple[int, int], ...], ...] = ()  # of a model that was trained on several alignments

    def __post_init__(self) -> None:
        split_lines(self, "reference")


@dataclass(frozen=True)
class Input:
    """A sentence of n words with instructions. Raises ConfigError for impossible instructions.

    A wall w, 0 < w < n, stands before word w: all words before it are translated before the words after it, except
    within a phrase that covers the rest of the words before it. Once a word of the zone begin:end is translated, all
    words of the zone are translated before any other word. A wall inside a zone holds only for the words of the zone.
    Zones may be nested.

    >>> Input("der hund schläft").words
    ('der', 'hund', 'schläft')
    >>> Input(["der", "hund", "schläft"], terms=(Term(1, 2, ("puppy",)),)).terms[0].target
    ('puppy',)
    """

    words: Sequence[str]  # or a tokenized line
    terms: tuple[Term, ...] = ()
    policy: TermPolicy = "exclusive"
    walls: tuple[int, ...] = ()
    zones: tuple[tuple[int, int], ...] = ()
    prefix: Prefix = Prefix()
    held_out: HeldOutPair | None = None
    tags: tuple[str, ...] = ()  # of the words, or a line of them, for models with features of tags
    lattice: WordLattice | None = None  # if given, `words` are those of the lattice

    @classmethod
    def of_lattice(cls, lattice: WordLattice) -> "Input":
        """The input for a lattice; its words are those of some path."""
        return cls(lattice.words, lattice=lattice)

    @classmethod
    def from_lattice(cls, nodes: Sequence[Sequence[tuple[str, Scores, int]]]) -> "Input":
        """The input for a lattice, given as the arcs that leave each node except the last.

        An arc is (word, probability, number of nodes that it advances); the word "*EPS*" is empty. Instead of the
        probability there may be several scores between 0 and 1, one for each weight of `input_score`. Raises
        ConfigError.
        """
        return cls.of_lattice(WordLattice.of(nodes))

    @classmethod
    def from_confusion_network(cls, columns: Sequence[Sequence[tuple[str, Scores]]]) -> "Input":
        """The input for a confusion network, given as the words and probabilities of each column; see from_lattice."""
        return cls.from_lattice([[(word, scores, 1) for word, scores in column] for column in columns])

    @classmethod
    def read(cls, line: str | Sequence[str], has_tags: bool = False) -> "Input":
        """The input for a tokenized line or a list of tokens; for `has_tags` see words_and_tags. Raises ConfigError."""
        words, tags = words_and_tags(words_of(line), has_tags)
        return cls(words, tags=tags)

    def __post_init__(self) -> None:
        split_lines(self, *(("words", "tags") if self.lattice is None else ("tags",)))
        n_words = len(self.words)
        if self.lattice is not None:
            self._check_lattice(self.lattice)
        if self.tags and len(self.tags) != n_words:
            raise ConfigError(f"{len(self.tags)} tags are given for {n_words} words, expected one for each, or none")
        for term in self.terms:
            check_span("a translation is given for", term.begin, term.end, n_words)
            if term.end - term.begin > LONGEST_TERM:
                message = f"a translation is given for {term.end - term.begin} words, at most {LONGEST_TERM} can have"
                raise ConfigError(f"{message} one; split it")
            if not 0 <= term.probability < float("inf"):
                raise ConfigError(f"a translation has probability {term.probability}, expected 0 or more")
            if not all(0 <= i < term.end - term.begin and 0 <= j < len(term.target) for i, j in term.alignment):
                raise ConfigError(f"a translation is aligned {term.alignment}, which is not entirely inside it")
        for wall in self.walls:
            if not 0 <= wall <= n_words:
                raise ConfigError(f"a wall is before word {wall}, but the sentence has words 0 to {n_words - 1}")
        for zone in self.zones:
            check_span("a zone holds", *zone, n_words)
        if self.zones:
            _check_nesting(sorted(self.zones))
        if self.held_out:
            n_target = len(self.held_out.reference)
            for i, j in chain(self.held_out.alignment, *self.held_out.more_alignments):
                if not (0 <= i < n_words and 0 <= j < n_target):
                    sizes = f"{n_words} source and {n_target} target words"
                    raise ConfigError(f"point {i}-{j} of the alignment lies outside the sentence pair of {sizes}")

    def _check_lattice(self, lattice: WordLattice) -> None:
        """Raise ConfigError if a lattice has instructions, which all refer to words, or other words than its own."""
        if tuple(self.words) != lattice.words:
            raise ConfigError("the words of the input are not those of its lattice; make it by Input.from_lattice")
        given = {
            "terms": self.terms,
            "walls": self.walls,
            "zones": self.zones,
            "a prefix": self.prefix.words,
            "leave-one-out": self.held_out,
            "tags": self.tags,
        }
        if wrong := [name for name, value in given.items() if value]:
            raise ConfigError(f"a lattice or confusion network cannot have {wrong[0]}; leave that out, or give text")


def words_and_tags(tokens: Sequence[str], has_tags: bool) -> tuple[Sequence[str], tuple[str, ...]]:
    """The words and, if the tokens of the model's source text have tags, the tags of `tokens`.

    A token with a tag is `word|TAG`, as Moses writes factors, split at the last `|`; without tags, `|` is an ordinary
    character. Raises ConfigError if a word or a tag is missing.
    """
    if not has_tags:
        return tokens, ()
    words, tags = [], []
    for token in tokens:
        word, _, tag = token.rpartition("|")
        if not (word and tag):
            raise ConfigError(f"the token {token!r}, expected word|TAG, since the model has features of tags")
        words.append(word)
        tags.append(tag)
    return words, tuple(tags)


def check_span(what: str, begin: int, end: int, n_words: int) -> None:
    """Raise ConfigError, beginning with `what`, unless begin:end is a nonempty span of `n_words` words."""
    if begin >= end:
        raise ConfigError(f"{what} no words, expected at least one")
    if begin < 0 or end > n_words:
        raise ConfigError(f"{what} words {begin} to {end - 1}, the sentence has words 0 to {n_words - 1}")


def _check_nesting(zones: list[tuple[int, int]]) -> None:
    for i, outer in enumerate(zones):
        for begin, end in zones[i + 1 :]:
            if outer[0] < begin < outer[1] < end:
                spans = f"words {outer[0]} to {outer[1] - 1} and words {begin} to {end - 1}"
                raise ConfigError(f"the zones of {spans} cross; nest or separate them")
