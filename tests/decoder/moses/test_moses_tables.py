"""Moses' text tables against a line-by-line reader into dicts, and lines that are refused."""

import gzip
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.moses import reordering_lines
from phrasebeam.decoder.moses import tables as moses_tables
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.moses.reordering import read_reordering_tables
from phrasebeam.decoder.moses.tables import PhraseTableReader
from phrasebeam.decoder.tables.phrase_table import find_source, longest, open_phrase_table, open_reordering_table
from phrasebeam.lm.text.text_vocabulary import TextVocabulary
from tests.naive import moses as naive

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

PHRASES = st.lists(st.sampled_from(["a", "b", "\u00a0", "&#124;"]), min_size=1, max_size=3).map(tuple)
FE = Reordering()
NONE_REPEATED = np.zeros((0, 2), np.int64)
PROBABILITIES = st.sampled_from(["1", "0", "0.5", "1e-9", "2.718", "1e-60", ".25"])


@st.composite
def texts(draw, condition="fe"):
    """A phrase table grouped by source phrases, and a reordering table of some of its pairs and of others."""
    n_scores = draw(st.integers(1, 5))
    lines, reordering = [], []
    for source in draw(st.lists(PHRASES, min_size=1, max_size=5, unique=True)):
        for target in draw(st.lists(PHRASES, min_size=1, max_size=4, unique=True)):
            scores = draw(st.lists(PROBABILITIES, min_size=n_scores, max_size=n_scores))
            lines.append(" ||| ".join([" ".join(source), " ".join(target), " ".join(scores), *fields(draw)]))
    for phrases in draw(st.lists(st.tuples(*[PHRASES] * len(condition)), max_size=20, unique=True)):
        scores = draw(st.lists(PROBABILITIES, min_size=6, max_size=6))
        reordering.append(" ||| ".join([*map(" ".join, phrases), " ".join(scores)]))
    first = " ||| ".join(lines[0].split(" ||| ")[: len(condition)])
    reordering = [line for line in reordering if not line.startswith(f"{first} |||")]
    reordering.insert(draw(st.integers(0, len(reordering))), f"{first} ||| .1 .2 .3 .4 .5 0")
    return n_scores, "".join(f"{line}\n" for line in lines), "".join(f"{line}\n" for line in reordering)


def fields(draw):
    """What may follow the scores: alignment, counts, sparse features, properties."""
    points, counts = draw(st.sampled_from(["", "0-0"])), draw(st.sampled_from(["", "3 2", "3 2 1"]))
    return [points, counts, "", "{{Key value}}"][: draw(st.integers(0, 4))]


def read(text, n_scores, directory, compressed=False, memory=1 << 30):
    """The table and its vocabularies."""
    path, source, target = directory / "table", TextVocabulary(), TextVocabulary()
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    sizes = PhraseTableReader(path, n_scores, source, target).read(directory / "phrases", memory)
    table = open_phrase_table(directory / "phrases")
    assert sizes == tuple(map(longest, (table.source_offsets, table.target_offsets, table.pair_offsets)))
    return table, source, target


def blocks_of(n_lines):
    """A function in place of read_blocks, whose blocks have so many lines."""

    def read_blocks(path):
        return ("".join(f"{line}\n" for line in lines).encode() for lines in batched(read_lines(path), n_lines))

    return read_blocks


def batched(lines, size):
    lines = iter(lines)
    while batch := list(islice(lines, size)):
        yield batch


def test_sparse_features_are_kept_in_files(tmp_path, monkeypatch):
    text = "".join(f"a{i} ||| b ||| 1 ||| ||| ||| x{i % 7} {i} y 0.5\n" for i in range(5000))
    (tmp_path / "table").write_text(text)
    for at_once in (100, 5000):
        monkeypatch.setattr(moses_tables, "PAIRS_AT_ONCE", at_once)
        reader = PhraseTableReader(tmp_path / "table", 1, TextVocabulary(), TextVocabulary())
        reader.read(tmp_path / f"phrases-{at_once}")
        assert reader.sparse.offsets.tolist() == [*range(0, 10_001, 2)]
        names = reader.sparse_names
        assert [names[i] for i in reader.sparse.numbers] == [name for i in range(5000) for name in (f"x{i % 7}", "y")]
        assert reader.sparse.values.tolist() == [value for i in range(5000) for value in (i, 0.5)]
        assert not reader.pairs.counts.any()
        assert not [path for path in (tmp_path / f"phrases-{at_once}").iterdir() if "sparse" in path.name]


def as_dict(table, source, target):
    """The table in the naive reader's form."""
    found = {}
    for i, (begin, end) in enumerate(zip(table.pair_offsets, table.pair_offsets[1:])):
        words = phrase(table.source_offsets, table.source_words, i, source)
        ids = source.ids(words)
        assert find_source(table, ids, np.int64(0), np.int64(ids.size)) == i
        for pair in range(begin, end):
            points = table.alignment_points[slice(*table.alignment_offsets[pair : pair + 2])]
            counts = table.target_counts[pair], table.source_counts[i], table.joint_counts[pair]
            key = words, phrase(table.target_offsets, table.target_words, pair, target)
            found[key] = table.ln_scores[pair].tolist(), list(map(tuple, points.tolist())), counts
    return found


def phrase(offsets, words, i, vocabulary):
    return tuple(vocabulary.words[word] for word in words[offsets[i] : offsets[i + 1]])


@settings(max_examples=60)
@given(texts(), st.sampled_from([1, 2, 1000]), st.booleans(), st.sampled_from([0, 1 << 30]))
def test_same_as_the_naive_reader(given_texts, at_once, compressed, memory):
    n_scores, text, reordering = given_texts
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        directory = Path(scratch)
        patch.setattr(moses_tables, "PAIRS_AT_ONCE", at_once)
        patch.setattr(moses_tables, "read_blocks", blocks_of(at_once))
        patch.setattr(reordering_lines, "read_blocks", blocks_of(at_once))
        table, source, target = read(text, n_scores, directory, compressed, memory)
        expected = naive.phrase_table(text)
        found = as_dict(table, source, target)
        assert list(found) == list(expected)
        source_counts = {}
        for key, (ln_scores, points, counts) in expected.items():
            assert found[key][0] == pytest.approx(ln_scores, rel=1e-6, abs=1e-7)
            first = source_counts.setdefault(key[0], counts[1])  # c(f) is one number a source phrase
            assert found[key][1:] == (points, (counts[0], first, counts[2]))
        (directory / "text").write_text(reordering, encoding="utf-8")
        paths = directory / "phrases", (source, target), directory / "reordering", NONE_REPEATED
        (missing,) = read_reordering_tables([(directory / "text", FE)], *paths)
        rows = naive.reordering_table(reordering, expected, 6)
        scores = open_reordering_table(directory / "reordering", len(rows))
        np.testing.assert_allclose(scores.ln_scores, rows, rtol=1e-6)
        present = {
            tuple(tuple(naive.words(field)) for field in line.split("|||")[:2]) for line in reordering.split("\n")
        }
        assert missing == sum(key not in present for key in expected)
        assert not scores.counts.any()


@settings(max_examples=30)
@given(texts("f"), st.sampled_from([1, 2, 1000]), st.sampled_from([[], [-0.5, -1.0, 0.0, -2.0, 0.0, -3.0]]))
def test_scores_of_source_phrases(given_texts, at_once, ln_default):
    n_scores, text, reordering = given_texts
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        directory = Path(scratch)
        patch.setattr(reordering_lines, "read_blocks", blocks_of(at_once))
        _, source, target = read(text, n_scores, directory)
        (directory / "text").write_text(reordering, encoding="utf-8")
        model = Reordering(condition="f", ln_default=ln_default)
        paths = directory / "phrases", (source, target), directory / "reordering", NONE_REPEATED
        (missing,) = read_reordering_tables([(directory / "text", model)], *paths)
        pairs = list(naive.phrase_table(text))
        by_source = {tuple(fields[0]): naive.ln(fields[1]) for fields in naive.fields(reordering)}
        rows = [by_source.get(pair[0], ln_default or [0.0] * 6) for pair in pairs]
        found = open_reordering_table(directory / "reordering", len(pairs)).ln_scores
        np.testing.assert_allclose(found, rows, rtol=1e-6)
        assert missing == sum(pair[0] not in by_source for pair in pairs)


def test_the_last_line_of_a_source_phrase_counts(tmp_path):
    _, source, target = read(GOOD, 2, tmp_path)
    (tmp_path / "text").write_text("q ||| 1 1 1 1 1 1\na b ||| 1 1 1 1 1 1\na b ||| 1 1 1 1 1 0.5\n")
    paths = tmp_path / "phrases", (source, target), tmp_path / "reordering", NONE_REPEATED
    assert read_reordering_tables([(tmp_path / "text", Reordering(condition="f"))], *paths) == [0]
    (found,) = open_reordering_table(tmp_path / "reordering", 1).ln_scores
    assert np.exp(found) == pytest.approx([1, 1, 1, 1, 1, 0.5])


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_pairs_that_are_repeated(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(moses_tables, "PAIRS_AT_ONCE", at_once)
    monkeypatch.setattr(reordering_lines, "read_blocks", blocks_of(at_once))
    lines = "a ||| x ||| 1", "a ||| y z ||| 1", "b ||| x ||| 1", "b ||| y ||| 0.5", "b ||| x ||| 0.25", "b |||  x ||| 1"
    (tmp_path / "table").write_text("".join(f"{line}\n" for line in lines))
    vocabularies = TextVocabulary(), TextVocabulary()
    reader = PhraseTableReader(tmp_path / "table", 1, *vocabularies)
    reader.read(tmp_path / "phrases")
    assert reader.repeated.tolist() == [[4, 2], [5, 2]]
    table = open_phrase_table(tmp_path / "phrases")
    assert np.exp(table.ln_scores).ravel() == pytest.approx([1, 1, 1, 0.5, 0.25, 1])
    assert [vocabularies[1].words[i] for i in table.target_words] == ["x", "y", "z", "x", "y", "x", "x"]
    probabilities = {"a ||| y z": 0.5, "b ||| x": 0.25, "b ||| y": 0.125}
    for repeats, n_missing in (("b ||| x ||| 1 1 1 1 1 0.75\n", 1), ("", 1)):
        text = "".join(f"{pair} ||| 1 1 1 1 1 {one}\n" for pair, one in probabilities.items())
        (tmp_path / "text").write_text(text + repeats)
        output = tmp_path / f"reordering{len(repeats)}"
        paths = tmp_path / "phrases", vocabularies, output, reader.repeated
        assert read_reordering_tables([(tmp_path / "text", FE)], *paths) == [n_missing]
        of_x = 0.75 if repeats else 0.25  # of several lines the last counts
        found = np.exp(open_reordering_table(output, 6).ln_scores[:, 5])
        assert found == pytest.approx([1, 0.5, of_x, 0.125, of_x, of_x])


GOOD = "a b ||| x y ||| 0.5 0.25 ||| 0-0 1-1 ||| 3 2 1 ||| |||\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a", "1 fields, expected 3 to 7"),
        ("", "1 fields, expected 3 to 7"),
        ("a ||| b", "2 fields, expected 3 to 7"),
        (" ||| b ||| 1 1", "0 source words, expected 1 to 255"),
        ("a |||  ||| 1 1", "0 target words, expected 1 to 255"),
        ("a " * 256 + "||| b ||| 1 1", "256 source words, expected 1 to 255"),
        ("a|N ||| b ||| 1 1", "factors or an unescaped | in the source phrase 'a|N'"),
        ("a ||| b|N ||| 1 1", "factors or an unescaped | in the target phrase 'b|N'"),
        ("a ||| b ||| 1", "1 scores, expected 2 as moses.ini says"),
        ("a ||| b ||| 1 one", "scores '1 one', expected numbers"),
        ("a ||| b ||| 1 nan", "score nan, expected a number from 0"),
        ("a ||| b ||| -1 1", "score -1, expected a number from 0"),
        ("a ||| b ||| inf 1", "score inf, expected a number from 0"),
        ("a ||| b ||| 1 1 ||| 0", "alignment point '0', expected SOURCE-TARGET"),
        ("a ||| b ||| 1 1 ||| 0--1", "alignment point '0--1', expected SOURCE-TARGET"),
        ("a ||| b ||| 1 1 ||| 0-" + "9" * 5000, "alignment point '0-999"),
        ("a ||| b ||| 1 1 ||| \u0663-0", "alignment point '\u0663-0', expected SOURCE-TARGET"),
        ("a ||| b ||| 1 " + "9" * 5000, "score inf, expected a number from 0"),
        ("a ||| b ||| 1 1 ||| 0-0 1-0", "alignment point 1-0 lies outside the phrases"),
        ("a ||| b ||| 1 1 |||  ||| 1 2 3 4", "4 counts, expected at most 3"),
        ("a ||| b ||| 1 1 |||  ||| 1 x", "counts '1 x', expected numbers"),
        ("a ||| b ||| 1 1 |||  ||| 3e9 1 1", "count 3e+09, expected a number from 0 to"),
        ("a ||| b ||| 1 1 |||  |||  ||| wt 1 x", "sparse features 'wt 1 x'"),
        ("a ||| b ||| 1 1 |||  |||  ||| wt nan", "value nan of the sparse feature 'wt'"),
        ("a ||| b ||| 1 1 |||  |||  |||  |||  ||| ", "8 fields, expected 3 to 7"),
        ("c ||| d ||| 1 1\na b ||| z ||| 1 1", "'a b' has other pairs further up"),
    ],
)
def test_lines_that_are_refused(tmp_path, line, complaint):
    with pytest.raises(FormatError) as caught:
        read(f"{GOOD}{line}\na ||| z ||| 1 1\n" if not line.startswith("c") else f"{GOOD}{line}\n", 2, tmp_path)
    assert complaint in str(caught.value)
    assert caught.value.line == 2 + line.count("\n")


def test_an_empty_table(tmp_path):
    with pytest.raises(FormatError, match="no phrase pairs; give a text phrase table"):
        read("", 2, tmp_path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a b ||| 1 1 1 1 1 1", "2 fields, expected 3: source ||| target ||| probabilities (a table of type fe)"),
        ("a b ||| x y ||| 1 1 1", "3 probabilities, expected 6 for its type"),
        ("a b ||| x y ||| 1 1 1 1 1 x", "expected numbers"),
        ("a b ||| x y ||| 1 1 1 1 1 nan", "expected numbers not below 0"),
        ("a b ||| x y ||| 1 1 1 1 1 -1", "expected numbers not below 0"),
    ],
)
def test_lines_of_reordering_tables_that_are_refused(tmp_path, line, complaint):
    _, source, target = read(GOOD, 2, tmp_path)
    (tmp_path / "text").write_text(f"q ||| q ||| 1 1 1 1 1 1\na b ||| x y ||| 1 1 1 1 1 1\n{line}\n")
    for at_once in (1, 2, 100):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(FormatError) as caught:
            patch.setattr(reordering_lines, "read_blocks", blocks_of(at_once))
            output = tmp_path / f"reordering{at_once}"
            tables = [(tmp_path / "text", FE)]
            read_reordering_tables(tables, tmp_path / "phrases", (source, target), output, NONE_REPEATED)
        assert complaint in str(caught.value)
        assert caught.value.line == 3


@pytest.mark.parametrize(
    ("kind", "direction", "columns"),
    [
        ("msd", "bidirectional", [0, 1, 2, 1, 2, 3]),  # as Moses reads them
        ("leftright", "bidirectional", [0, 1, 1, 2]),
        ("mslr", "forward", [0, 1, 2, 3]),
    ],
)
def test_collapsed_scores_are_read_as_moses_does(tmp_path, kind, direction, columns):
    model = Reordering(kind=kind, direction=direction, collapse=True)
    (tmp_path / "table").write_text("a ||| b ||| 1\n")
    source, target = TextVocabulary(), TextVocabulary()
    PhraseTableReader(tmp_path / "table", 1, source, target).read(tmp_path / "phrases")
    probabilities = np.arange(1, model.n_columns + 1) / 10
    (tmp_path / "text").write_text(f"a ||| b ||| {' '.join(map(str, probabilities.tolist()))}\n")
    paths = tmp_path / "phrases", (source, target), tmp_path / "reordering", NONE_REPEATED
    read_reordering_tables([(tmp_path / "text", model)], *paths)
    (found,) = open_reordering_table(tmp_path / "reordering", 1).ln_scores
    np.testing.assert_allclose(np.exp(found), probabilities[columns], rtol=1e-6)


ARPA = """\\data\\
ngram 1=3
ngram 2=1

\\1-grams:
-1 <unk> 0
0 <s> 0
-1 </s> 0

\\2-grams:
-1 <s> </s>

\\end\\
"""


def test_a_reordering_table_of_another_model(tmp_path):
    (tmp_path / "table").write_text(GOOD)
    (tmp_path / "text").write_text("q ||| q ||| 1 1 1 1 1 1\n")
    (tmp_path / "lm").write_text(ARPA)
    features = "PhraseDictionaryMemory num-features=2 path=table\nKENLM path=lm\n"
    features += "LexicalReordering type=wbe-msd-bidirectional-fe path=text\n"
    (tmp_path / "moses.ini").write_text(f"[feature]\n{features}")
    with pytest.raises(FormatError, match=r"text: none of its pairs is in the phrase table"):
        import_moses(tmp_path / "moses.ini", tmp_path / "model")


def test_reordering_tables_stand_beside_each_other(tmp_path):
    _, source, target = read("a ||| x ||| 1\na ||| y ||| 1\nb ||| x ||| 1\n", 1, tmp_path)
    (tmp_path / "first").write_text("a ||| x ||| 0.5 1 1 1 1 1\nb ||| x ||| 1 1 1 1 1 0.25\n")
    (tmp_path / "second").write_text("a ||| y ||| 1 1 1 0.125 1 1\n")
    tables = [(tmp_path / name, FE) for name in ("first", "second")]
    paths = tmp_path / "phrases", (source, target), tmp_path / "reordering", NONE_REPEATED
    assert read_reordering_tables(tables, *paths) == [1, 2]
    found = np.exp(open_reordering_table(tmp_path / "reordering", 3).ln_scores)
    expected = np.ones((3, 12))
    expected[0, 0], expected[2, 5], expected[1, 9] = 0.5, 0.25, 0.125
    np.testing.assert_allclose(found, expected, rtol=1e-6)
