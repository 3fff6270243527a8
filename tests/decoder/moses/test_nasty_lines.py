"""Lines of Moses' text tables that few tools write, against a reader of Python's methods alone."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.moses import reordering_lines, table_lines
from phrasebeam.decoder.moses import tables as moses_tables
from phrasebeam.decoder.moses.reordering_lines import read_reordering_lines
from phrasebeam.decoder.moses.tables import PhraseTableReader
from phrasebeam.decoder.tables.phrase_table import floored_ln, open_phrase_table
from phrasebeam.lm.text.text_vocabulary import TextVocabulary
from tests.decoder.moses.test_moses_tables import blocks_of
from tests.naive import moses as naive

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

NUMBERS = st.sampled_from(
    [
        "1",
        "0.5",
        "1e-9",
        ".25",
        "3.",
        "00.125",
        "1_0",
        "1e-400",
        "0.1234567890123456789012",
        "\u0663",
        "-0",
        "5e-324",
        "x",
    ]
)
SCORES = st.lists(NUMBERS, min_size=1, max_size=3).map(" ".join)
FIELDS = [
    st.sampled_from(["a", "a b", "a  b", "\u00a0", "b\tc", "a|b", "", "d\x0be"]),
    st.sampled_from(["x", "x y", "y\u2028", "x  y", "x|", "", "\u00e9t\u00e9"]),
    SCORES,
    st.sampled_from(["", "0-0", " 0-0 ", "0-0\u20030-0", "0-", "0-0x", "00-0", "0?0", "\u0663-0", "0-" + "0" * 14]),
    st.sampled_from(["", "3", "3 2", "3 2 1", "3 2 1 0", "1e2 1_0", "2.5 1 1", "y"]),
    st.sampled_from(["", "w 1", "w 1 v 2e-3", "w", "w x", "w nan", "\u00e9 1", "w\u00a01", "w 1_0 \x1c v 7"]),
    st.sampled_from(["", "{{Key value}}"]),
]
SEPARATORS = st.sampled_from([" ||| ", "|||", " |||\t", " |||| "])


@st.composite
def tables(draw):
    """Lines of a phrase table, mostly of the same source phrases, and the number of scores."""
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        n_fields = draw(st.sampled_from([2, 3, 4, 5, 6, 7, 7, 7]))
        separator = draw(SEPARATORS) if draw(st.integers(0, 3)) == 0 else " ||| "
        lines.append(separator.join(draw(field) for field in FIELDS[:n_fields]) + draw(st.sampled_from(["", "\r"])))
    return "".join(f"{line}\n" for line in lines), draw(st.integers(1, 3))


@settings(max_examples=300)
@given(tables(), st.sampled_from([1, 2, 100]), st.sampled_from([1, 4096]))
def test_phrase_tables(table, at_once, first_rows):
    text, n_scores = table
    expected, message = naive.checked_lines(text, n_scores)
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(moses_tables, "PAIRS_AT_ONCE", at_once)
        patch.setattr(table_lines, "FIRST_ROWS", first_rows)
        if "\r" not in text:
            patch.setattr(moses_tables, "read_blocks", blocks_of(at_once))
        (Path(scratch) / "table").write_bytes(text.encode())
        vocabularies = TextVocabulary(), TextVocabulary()
        reader = PhraseTableReader(Path(scratch) / "table", n_scores, *vocabularies)
        try:
            reader.read(Path(scratch) / "phrases")
        except FormatError as error:
            if " has other pairs further up" in str(error):
                return
            if " lies outside" not in str(error) and not str(error.message).startswith(("score ", "count ")):
                assert message is not None
                assert str(error).partition("table:")[2].startswith(message)
            return
        assert message is None
        check(reader, open_phrase_table(Path(scratch) / "phrases"), expected, vocabularies)


def check(reader, table, expected, vocabularies):
    """The pairs of the table are those that are expected."""
    source_of = np.repeat(np.arange(table.source_counts.size), np.diff(table.pair_offsets))
    rows = [(vocabularies[0], table.source_offsets, table.source_words, source_of)]
    rows.append((vocabularies[1], table.target_offsets, table.target_words, range(len(expected))))
    for side, (vocabulary, offsets, words, phrases) in enumerate(rows):
        found = [[vocabulary.words[i] for i in words[offsets[k] : offsets[k + 1]]] for k in phrases]
        assert found == [row[side] for row in expected]
    scores = np.array([row[2] for row in expected])
    assert np.array_equal(table.ln_scores, floored_ln(scores))
    for k, (_, _, _, points, counts, features) in enumerate(expected):
        first, last = table.alignment_offsets[k : k + 2]
        assert list(map(tuple, table.alignment_points[first:last].tolist())) == points
        assert (table.target_counts[k], table.joint_counts[k]) == (round(counts[0]), round(counts[2]))
        first, last = reader.sparse.offsets[k : k + 2]
        names = [reader.sparse_names[i] for i in reader.sparse.numbers[first:last]]
        assert [*zip(names, reader.sparse.values[first:last])] == [
            (name, np.float32(value)) for name, value in features
        ]
    seen, repeated = {}, []
    for k, row in enumerate(expected):
        phrases = int(source_of[k]), *row[1]
        if seen.setdefault(phrases, k) != k:
            repeated.append([k, seen[phrases]])
    assert reader.repeated.tolist() == repeated


@settings(max_examples=200)
@given(
    st.lists(st.tuples(FIELDS[0], FIELDS[1], SCORES), min_size=1, max_size=5),
    st.sampled_from(["f", "fe"]),
    st.sampled_from([1, 100]),
)
def test_reordering_tables(lines, condition, at_once):
    model = Reordering(condition=condition, kind="monotonicity", direction="backward")
    rows = [(line[0], line[2]) if condition == "f" else line for line in lines]
    vocabularies = TextVocabulary(["a", "b", "\u00a0"]), TextVocabulary(["x"])
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(reordering_lines, "read_blocks", blocks_of(at_once))
        path = Path(scratch) / "table"
        path.write_bytes("".join(f"{' ||| '.join(row)}\n" for row in rows).encode())
        wrong = [i for i, row in enumerate(rows) if not is_sound(row[-1], model.n_columns)]
        try:
            pieces = list(read_reordering_lines(path, model, vocabularies))
        except FormatError as error:
            assert error.line == wrong[0] + 1
            return
    assert not wrong
    expected = [naive.floats(row[-1]) for row in rows]
    assert np.concatenate([piece.scores for piece in pieces]).reshape(len(rows), -1).tolist() == expected
    words = [phrase for row in rows for phrase in row[:-1]]
    found = [
        piece.words[piece.offsets[i] : piece.offsets[i + 1]] for piece in pieces for i in range(piece.offsets.size - 1)
    ]
    for i, (phrase, ids) in enumerate(zip(words, found)):
        vocabulary = vocabularies[i % len(condition)]
        assert (
            ids.tolist()
            == vocabulary.ids(naive.BLANKS.sub(" ", phrase).strip(" ").split(" ") if phrase else []).tolist()
        )


def is_sound(text, n_columns):
    numbers = naive.floats(text)
    return numbers is not None and len(numbers) == n_columns and all(0 <= number < np.inf for number in numbers)
