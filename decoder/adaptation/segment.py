"""A confirmed translation, and its phrase pairs, as counts take them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.extraction.occurrences import all_orientations, source_lengths, target_lengths
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.sentence import sentence_occurrences
from phrasebeam.decoder.model.description import ModelDescription

MOST_WORDS = 1000  # of a side; aligning takes memory and time by the product of both
Words = tuple[int, ...]  # ids of a phrase
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


class Occurrence(NamedTuple):
    """A phrase pair in a segment."""

    source: Words
    target: Words
    points: Points
    previous: int  # orientation to the phrase before, M S DL DR
    following: int  # to the phrase behind


def occurrences(
    source: np.ndarray, target: np.ndarray, points: Points, description: ModelDescription
) -> Iterator[Occurrence]:
    """The phrase pairs of a sentence pair (int32[n], int32[m]) with one alignment, otherwise as the model took them."""
    longest_source, longest_target = description.max_source_phrase_length, description.max_target_phrase_length
    orientation = description.reordering.orientation if description.reordering else "word"
    rows = sentence_occurrences(source, target, [points], max(longest_source, longest_target), KINDS[orientation])
    columns = rows[:, 1], rows[:, 2], source_lengths(rows), target_lengths(rows), *all_orientations(rows)
    source_words, target_words = source.tolist(), target.tolist()
    for i, j, n, m, previous, following in zip(*(column.tolist() for column in columns)):
        if n <= longest_source and m <= longest_target:
            inside = tuple((s - i, t - j) for s, t in points if i <= s < i + n and j <= t < j + m)
            phrases = tuple(source_words[i : i + n]), tuple(target_words[j : j + m])
            yield Occurrence(*phrases, inside, previous, following)
