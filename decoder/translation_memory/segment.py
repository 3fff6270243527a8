"""A confirmed translation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError

MOST_WORDS = 1000  # a side; alignment takes memory and time proportional to the product of both
Points = tuple[tuple[int, int], ...]  # (source, target) positions


class NewSegment(NamedTuple):
    """A source sentence and its translation, in tokens, as a user confirms it."""

    source: Sequence[str]
    translation: Sequence[str]
    key: str = ""  # see Segment


@dataclass(frozen=True, slots=True)
class Segment:
    """A source sentence and the translation that someone confirmed."""

    number: int  # in its project, from 1
    source: tuple[str, ...]
    translation: tuple[str, ...]
    alignment: Points
    key: str = ""  # the caller's name for the segment; each key is learned only once

    def __post_init__(self) -> None:
        for name, words in (("source", self.source), ("translation", self.translation)):
            if not 0 < len(words) <= MOST_WORDS:
                raise ConfigError(f"the {name} of a segment has {len(words)} words, expected 1 to {MOST_WORDS}")
