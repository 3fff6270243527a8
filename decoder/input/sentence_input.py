"""What is to be translated: the words of a sentence, and what its author asks of the translation, as in Moses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.input.input_settings import TermPolicy
from phrasebeam.lm.text.corpus import split

LeaveOneOut = Literal["drop", "penalty"]

LONGEST_TERM = COVERAGE_WINDOW - 1  # words, so that a coverage can hold it


@dataclass(frozen=True)
class Term:
    """A translation of the source words begin:end; ln of its probability is spread over the phrase table's scores."""

    begin: int
    end: int
    target: tuple[str, ...]
    probability: float = 1.0
    alignment: tuple[tuple[int, int], ...] = ()  # (source, target) positions inside the term


@dataclass(frozen=True)
class Prefix:
    """Words with which a translation must begin; the last of them may be the beginning of one."""

    words: tuple[str, ...] = ()
    is_partial: bool = False

    @classmethod
    def read(cls, line: str, partial_word: bool = False) -> "Prefix":
        """The prefix in a tokenized line; with `partial_word`, its last word is unfinished unless space follows it."""
        return cls(tuple(split(line)), partial_word and not line[-1:].isspace())


@dataclass(frozen=True)
class LeftOut:
    """The training sentence pair that an input is the source of, and that its translation must not know of."""

    reference: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]  # (source, target) positions, as the model was made of
    mode: LeaveOneOut = "drop"
    fold: int | None = None  # number of the language model that has not seen the sentence


@dataclass(frozen=True)
class Input:
    """A sentence of n words with instructions. Raises ConfigError where these are impossible.

    A wall w, 0 < w < n, stands before word w: a phrase that reaches beyond it leaves no word before it for later. The
    words of a zone begin:end, once one of them is translated, are all translated before any other; a wall inside a
    zone holds for its words alone. Zones may be nested.
    """

    words: Sequence[str]
    terms: tuple[Term, ...] = ()
    policy: TermPolicy = "exclusive"
    walls: tuple[int, ...] = ()
    zones: tuple[tuple[int, int], ...] = ()
    prefix: Prefix = Prefix()
    left_out: LeftOut | None = None

    def __post_init__(self) -> None:
        n_words = len(self.words)
        for term in self.terms:
            check_span("a translation is given for", term.begin, term.end, n_words)
            if term.end - term.begin > LONGEST_TERM:
                message = f"a translation is given for {term.end - term.begin} words, at most {LONGEST_TERM} can have"
                raise ConfigError(f"{message} one; split it")
            if not 0 <= term.probability < float("inf"):
                raise ConfigError(f"a translation has probability {term.probability}, expected 0 or more")
            if not all(0 <= i < term.end - term.begin and 0 <= j < len(term.target) for i, j in term.alignment):
                raise ConfigError(f"a translation is aligned {term.alignment}, which is not all inside it")
        for wall in self.walls:
            if not 0 <= wall <= n_words:
                raise ConfigError(f"a wall stands before word {wall}, the sentence has words 0 to {n_words - 1}")
        for zone in self.zones:
            check_span("a zone holds", *zone, n_words)
        if self.zones:
            _check_nesting(sorted(self.zones))
        if self.left_out:
            n_target = len(self.left_out.reference)
            for i, j in self.left_out.alignment:
                if not (0 <= i < n_words and 0 <= j < n_target):
                    sizes = f"{n_words} source and {n_target} target words"
                    raise ConfigError(f"point {i}-{j} of the alignment lies outside the sentence pair of {sizes}")


def check_span(what: str, begin: int, end: int, n_words: int) -> None:
    """Raises ConfigError, which begins with `what`, unless begin:end are some of the words of a sentence."""
    if begin >= end:
        raise ConfigError(f"{what} no words, expected at least one")
    if begin < 0 or end > n_words:
        raise ConfigError(f"{what} words {begin} to {end - 1}, the sentence has words 0 to {n_words - 1}")


def _check_nesting(zones: list[tuple[int, int]]) -> None:
    for i, outer in enumerate(zones):
        for begin, end in zones[i + 1 :]:
            if outer[0] < begin < outer[1] < end:
                both = f"words {outer[0]} to {outer[1] - 1} and words {begin} to {end - 1}"
                raise ConfigError(f"the zones of {both} cross; nest them, or set them apart")
