"""Phrase and reordering tables against dicts; and the same tables from any number of pieces."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.extraction.pairs import LONGEST_PAIR
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source, open_phrase_table, open_reordering_table
from phrasebeam.training.model_building.scoring import BYTES_PER_OCCURRENCE, PhraseTableSettings, build_phrase_table
from tests.naive import extraction as naive
from tests.naive.phrase_smoothing import SMOOTHED, kneser_ney_discounts
from tests.training.model_building.bitexts import HARD, arrays, bitexts, long_pair

pytestmark = pytest.mark.kernels

KINDS = st.sampled_from(["word", "phrase", "hier"])


def build(bitext, **options):
    """The tables, read back from the files and copied into memory."""
    with tempfile.TemporaryDirectory() as directory:
        source, target, alignments = arrays(bitext)
        build_phrase_table(source, target, [alignments], Path(directory), PhraseTableSettings(**options))
        table = open_phrase_table(Path(directory) / "phrases")
        reordering = open_reordering_table(Path(directory) / "reordering", table.joint_counts.size)
        return (type(part)(*(np.array(array) for array in part)) for part in (table, reordering))


def runs(offsets, values):
    return [tuple(values[begin:end].tolist()) for begin, end in pairwise(offsets)]


def by_name(table, reordering):
    """The tables in the form of the naive twin."""
    sources = np.repeat(np.arange(table.source_counts.size), np.diff(table.pair_offsets))
    source_words = runs(table.source_offsets, table.source_words)
    names = [(source_words[s], e) for s, e in zip(sources, runs(table.target_offsets, table.target_words))]
    counts = zip(table.target_counts.tolist(), table.source_counts[sources].tolist(), table.joint_counts.tolist())
    points = runs(table.alignment_offsets, table.alignment_points)
    rows = zip(counts, points, table.ln_scores.tolist(), reordering.counts.tolist())
    found = dict(zip(names, rows))
    assert len(found) == len(names), "a phrase pair stands twice"
    return found


def assert_agrees(bitext, max_length, kind, **options):
    table, reordering = build(bitext, max_phrase_length=max_length, reordering=Reordering(orientation=kind), **options)
    found, expected = by_name(table, reordering), naive.phrase_table(bitext, max_length, kind)
    assert found.keys() == expected.keys()
    for name, (counts, points, ln_scores, orientations) in expected.items():
        assert found[name][0] == counts
        assert [tuple(point) for point in found[name][1]] == points
        assert found[name][2] == pytest.approx(ln_scores, rel=1e-6, abs=1e-6)
        assert found[name][3] == orientations
    return table, reordering


@settings(deadline=None, max_examples=60)
@given(bitexts, st.integers(1, 4), KINDS)
def test_agrees_with_counting(bitext, max_length, kind):
    assert_agrees(bitext, max_length, kind)


@pytest.mark.parametrize("name", HARD)
def test_hard_sentences(name):
    assert_agrees(HARD[name], 7, "phrase")


@settings(deadline=None, max_examples=25)
@given(bitexts, st.integers(1, 4), KINDS, st.integers(1, 5))
def test_pieces_do_not_show(bitext, max_length, kind, n_bits):
    whole = build(bitext, max_phrase_length=max_length, reordering=Reordering(orientation=kind))
    n_occurrences = sum(len(naive.extract(len(s), len(t), links, max_length)) for s, t, links in bitext)
    budget = max(1, n_occurrences * BYTES_PER_OCCURRENCE >> n_bits)
    pieces = build(bitext, max_phrase_length=max_length, reordering=Reordering(orientation=kind), memory_budget=budget)
    for one, other in zip(whole, pieces):
        for name, array in one._asdict().items():
            assert array.dtype == getattr(other, name).dtype
            assert array.tobytes() == getattr(other, name).tobytes(), name


def counts_of(found):
    return {name: row[0][2] for name, row in found.items()}


@settings(deadline=None, max_examples=60)
@given(bitexts, st.integers(1, 4), st.sampled_from(list(SMOOTHED)))
def test_smoothed_scores(bitext, max_length, method):
    found = by_name(*build(bitext, max_phrase_length=max_length, score_smoothing=method))
    expected = SMOOTHED[method](counts_of(found), counts_of(found))
    for name, row in found.items():
        assert row[2][::2] == pytest.approx(expected[name], rel=1e-5, abs=1e-5)
    plain = by_name(*build(bitext, max_phrase_length=max_length))
    assert all(row[2][1::2] == plain[name][2][1::2] for name, row in found.items())


@settings(deadline=None, max_examples=40)
@given(bitexts, st.integers(1, 4))
def test_kneser_ney_sums_to_one(bitext, max_length):
    """Together with what phrases get that were not seen with the one that is given."""
    found = by_name(*build(bitext, max_phrase_length=max_length, score_smoothing="kneser-ney"))
    counts, discount = counts_of(found), kneser_ney_discounts(counts_of(found))
    pairs_of = Counter(e for _, e in found)
    for f in {f for f, _ in found}:
        of_f = {e: count for (g, e), count in counts.items() if g == f}
        left = sum(discount[min(count, 3) - 1] for count in of_f.values()) / sum(of_f.values())
        unseen = sum(left * n / len(found) for e, n in pairs_of.items() if e not in of_f)
        assert sum(np.exp(found[f, e][2][2]) for e in of_f) + unseen == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("method", SMOOTHED)
def test_pieces_do_not_show_in_smoothed_scores(method):
    rng = np.random.default_rng(3)
    bitext = [long_pair(12, rng) for _ in range(20)]
    whole, pieces = (build(bitext, score_smoothing=method, memory_budget=size) for size in (1 << 28, 4000))
    for one, other in zip(whole, pieces):
        assert all(array.tobytes() == getattr(other, name).tobytes() for name, array in one._asdict().items())


@pytest.mark.needs_jit
def test_long_sentences_in_pieces(tmp_path):
    rng = np.random.default_rng(5)
    bitext = [long_pair(200, rng) for _ in range(5)]
    whole = build(bitext, reordering=Reordering(orientation="hier", kind="mslr"))
    pieces = build(
        bitext, reordering=Reordering(orientation="hier", kind="mslr"), memory_budget=1 << 14, scratch=tmp_path
    )
    for one, other in zip(whole, pieces):
        assert all(array.tobytes() == getattr(other, name).tobytes() for name, array in one._asdict().items())
    assert list(tmp_path.iterdir()) == []


def test_sentence_pairs_too_long_are_told(caplog):
    too_long = [0] * (int(LONGEST_PAIR) + 1)
    with caplog.at_level("WARNING"):
        table, _ = build([([0], [1], {(0, 0)}), (too_long, [1], {(0, 0)})])
    assert "1 sentence pairs have more than 1000 words on a side, the first in line 2: no phrase pairs" in caplog.text
    assert table.joint_counts.tolist() == [1]


GROUPS = {
    "msd": ["M", "S", "LR"],
    "mslr": ["M", "S", "L", "R"],
    "monotonicity": ["M", "SLR"],
    "leftright": ["MR", "SL"],
}
MODELS = st.builds(
    Reordering,
    kind=st.sampled_from(list(GROUPS)),
    direction=st.sampled_from(["backward", "forward", "bidirectional"]),
    condition=st.sampled_from(["f", "fe"]),
)


@settings(deadline=None, max_examples=40)
@given(bitexts, MODELS, st.floats(0.01, 2))
def test_orientation_probabilities(bitext, model, smoothing):
    table, reordering = build(bitext, reordering=model, smoothing=smoothing)
    groups, sources = GROUPS[model.kind], np.repeat(np.arange(table.source_counts.size), np.diff(table.pair_offsets))
    for pair, ln_scores in enumerate(reordering.ln_scores.tolist()):
        same = [pair] if model.condition == "fe" else np.flatnonzero(sources == sources[pair])
        counts, expected = reordering.counts[same].sum(axis=0), []
        for direction in model.directions:
            seen = dict(zip("MSLR", counts[:4] if direction == "backward" else counts[4:]))
            smoothed = [sum(seen[letter] for letter in group) + smoothing for group in groups]
            expected += [count / sum(smoothed) for count in smoothed]
        assert np.exp(ln_scores) == pytest.approx(expected, rel=1e-5)


@settings(deadline=None, max_examples=25)
@given(bitexts)
def test_every_source_phrase_is_found(bitext):
    table, _ = build(bitext)
    for i, phrase in enumerate(runs(table.source_offsets, table.source_words)):
        assert find_source(table, np.array(phrase, np.int32), 0, len(phrase)) == i
    assert find_source(table, np.array([9], np.int32), 0, 1) == ABSENT


def test_ties_are_broken_as_in_moses():
    """The greatest list of sets wins among equally frequent ones; from the target {0} {1} < {0, 1} {1} < {1} {0}."""
    monotone, crossed, both = (0, 0), (1, 0), (1, 1)
    pairs = [{monotone, both}, {(0, 1), crossed}, {monotone, crossed, both}]
    table, _ = build([([5, 6], [7, 8], links) for links in pairs])
    longest = np.argmax(
        np.diff(table.target_offsets) + np.repeat(np.diff(table.source_offsets), np.diff(table.pair_offsets))
    )
    points = runs(table.alignment_offsets, table.alignment_points)[longest]
    assert points == ([1, 0], [0, 1])


def test_an_old_table_is_replaced_and_a_failed_one_is_not_left(tmp_path, monkeypatch):
    source, target, alignments = arrays(HARD["one word each"])
    build_phrase_table(source, target, [alignments], tmp_path, PhraseTableSettings())
    before = (tmp_path / "phrases" / "ln_scores.npy").read_bytes()
    monkeypatch.setattr("phrasebeam.training.model_building.scoring.lexical_table", lambda bitext: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_phrase_table(source, target, [alignments], tmp_path, PhraseTableSettings())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["phrases", "reordering"]
    assert (tmp_path / "phrases" / "ln_scores.npy").read_bytes() == before


def test_no_scratch(tmp_path):
    with pytest.raises(ConfigError, match="nowhere is not a directory"):
        source, target, alignments = arrays(HARD["no links"])
        settings = PhraseTableSettings(scratch=tmp_path / "nowhere")
        build_phrase_table(source, target, [alignments], tmp_path / "out", settings)
    assert list(tmp_path.iterdir()) == []


def test_unequal_parts(tmp_path):
    source, target, _ = arrays(HARD["one word each"])
    _, _, alignments = arrays(HARD["no links"])
    with pytest.raises(ConfigError, match="3 source sentences, 3 target sentences and 1 alignments"):
        build_phrase_table(source, target, [alignments], tmp_path, PhraseTableSettings())
