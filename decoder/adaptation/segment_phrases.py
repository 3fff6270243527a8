"""The phrase pairs of a confirmed translation, as counts take them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.segment import Points, Words
from phrasebeam.decoder.extraction.occurrences import all_orientations, source_lengths, target_lengths
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.sentence import sentence_occurrences
from phrasebeam.decoder.model.description import ModelDescription


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
