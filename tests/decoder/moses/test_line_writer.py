"""Lines of Moses' text tables that are written, against lines made of strings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.moses.line_writer import TableLines, write_lines
from phrasebeam.decoder.moses.score_texts import probabilities
from phrasebeam.decoder.moses.tables import repeated_pairs
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.lm.text.encoded_words import encode

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

VOCABULARY = ["a", "\u00e9t\u00e9", "\u00a0"]
PHRASES = st.lists(st.integers(0, 2), min_size=1, max_size=3)
COUNTS = st.sampled_from([0, 1, 9, 10, 99, 100, 2**31 - 1])
POINTS = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), max_size=3)
SCORES = st.lists(st.sampled_from([0.0, -0.0, -0.5, -100.0, 2.0, np.float32(np.log(0.1))]), min_size=2, max_size=2)
PAIRS = st.lists(st.tuples(PHRASES, SCORES, POINTS, COUNTS, COUNTS, st.sampled_from(["", "w 1.0"])), max_size=4)
SOURCES = st.lists(st.tuples(PHRASES, COUNTS, PAIRS), min_size=1, max_size=4)


@given(SOURCES, st.booleans(), st.booleans())
def test_same_as_lines_of_strings(sources, has_target, has_fields):
    pairs = [(i, *pair) for i, (_, _, own) in enumerate(sources) for pair in own]
    table = PhraseTable(
        np.zeros(0, np.int64),
        *ragged([source[0] for source in sources], np.int32),
        np.cumsum([0, *(len(own) for _, _, own in sources)]),
        *ragged([pair[1] for pair in pairs], np.int32),
        np.array([pair[2] for pair in pairs], np.float32).reshape(-1, 2),
        *ragged([pair[3] for pair in pairs], np.uint8, 2),
        np.array([pair[5] for pair in pairs], np.int32),
        np.array([source[1] for source in sources], np.int32),
        np.array([pair[4] for pair in pairs], np.int32),
    )
    first = len(sources[0][2])  # the pairs of the first source phrase are not written
    rows = pairs[first:]
    scores, source_of = probabilities(table.ln_scores[first:]), np.array([pair[0] for pair in rows], np.int64)
    is_written, words = np.arange(len(rows)) % 3 != 1, encode(VOCABULARY)
    features = encode([pair[6] for pair in rows] if has_fields else [])
    lines = TableLines(table, words, words, np.array([first]), source_of, is_written, scores, features)
    expected = ""
    for k in np.flatnonzero(is_written):
        i, target, _, points, c_e, c_fe, own = rows[k]
        phrases = [sources[i][0], target] if has_target else [sources[i][0]]
        fields = [" ".join(VOCABULARY[word] for word in phrase) for phrase in phrases]
        fields.append(" ".join(scores.rows()[k]))
        if has_fields and features.offsets.size > 1:
            counts = (c_e, sources[i][1], c_fe)
            fields += [" ".join(f"{s}-{t}" for s, t in points), " ".join(map(str, counts)) if any(counts) else "", own]
            fields[-1] += " |||"
        expected += " ||| ".join(fields) + "\n"
    out = np.full(len(expected.encode()) + 3, 7, np.uint8)
    assert write_lines(lines, has_target, out) == out.size - 3
    assert out[:-3].tobytes().decode() == expected
    assert (out[-3:] == 7).all()
    assert write_lines(lines, has_target, out[:5].copy()) == out.size - 3


def ragged(rows, dtype, width=None):
    """Offsets and values."""
    shape = (-1,) if width is None else (-1, width)
    flat = np.array([value for row in rows for value in row], dtype).reshape(shape)
    return np.cumsum([0, *map(len, rows)]), flat


@given(st.lists(st.tuples(st.integers(0, 2), PHRASES), max_size=9))
def test_pairs_that_stand_further_up(pairs):
    pairs.sort(key=lambda pair: pair[0])
    offsets, words = ragged([pair[1] for pair in pairs], np.int32)
    rows = [pairs.index(pair) for pair in pairs]
    found = repeated_pairs(np.array([pair[0] for pair in pairs], np.int64), offsets, words)
    assert found.tolist() == [[row, first] for row, first in enumerate(rows) if row != first]
