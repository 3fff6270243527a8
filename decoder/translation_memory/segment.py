"""A confirmed translation."""

from dataclasses import dataclass

from phrasebeam.base.errors import ConfigError

MOST_WORDS = 1000  # of a side; aligning takes memory and time by the product of both
Points = tuple[tuple[int, int], ...]  # (source, target) positions


@dataclass(frozen=True)
class Segment:
    """A source sentence and its translation, as someone confirmed it."""

    number: int  # in its project, from 1
    source: tuple[str, ...]
    translation: tuple[str, ...]
    alignment: Points
    key: str = ""  # the caller's own name for it, by which it is learned once

    def __post_init__(self) -> None:
        for name, words in (("source", self.source), ("translation", self.translation)):
            if not 0 < len(words) <= MOST_WORDS:
                raise ConfigError(f"the {name} of a segment has {len(words)} words, expected 1 to {MOST_WORDS}")
