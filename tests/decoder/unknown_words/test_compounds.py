"""Compounds split, against all ways to split them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.unknown_words.compounds import FILLERS, MOST_PARTS, Part, pieces, split_compound
from tests.naive import unknown_words as naive

PARTS = ["haus", "tier", "haust", "iers", "tierarzt", "arzt", "rztin"]
COMPOUNDS = st.lists(st.sampled_from([*PARTS, "s", "en", "x"]), max_size=5).map("".join)
COUNTS = st.dictionaries(st.sampled_from(PARTS), st.integers(1, 9))


def last_part_of(counts):
    def last_part(piece):
        known = piece if piece in counts else piece.removesuffix("en")
        return Part(known, counts[known]) if known in counts else None

    return last_part


@given(COMPOUNDS, COUNTS)
@settings(max_examples=300)
def test_the_split_has_the_largest_geometric_mean(word, counts):
    def count(piece):
        return counts.get(piece, 0)

    parts = split_compound(word, count, last_part_of(counts))
    best = naive.best_mean(word, count, last_part_of(counts), FILLERS, MOST_PARTS)
    assert (best is None) == (parts == ())
    if best is not None:
        assert sum(math.log(counts[part]) for part in parts) / len(parts) == pytest.approx(best)
        assert {*parts} <= {*pieces(word)} | {*counts}


def test_fillers_stand_between_parts():
    counts = {"arbeit": 5, "markt": 2, "platz": 3, "arbe": 1}
    found = split_compound("arbeitsplatzmarkten", lambda piece: counts.get(piece, 0), last_part_of(counts))
    assert found == ("arbeit", "platz", "markt")


@pytest.mark.parametrize("word", ["", "haus", "haushau", "haus" * 20])
def test_short_and_endless_words_are_not_split(word):
    assert split_compound(word, lambda piece: 1, lambda piece: Part(piece, 1)) == ()
    assert pieces(word) == []
