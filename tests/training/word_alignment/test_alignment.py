"""Word alignment: which side is which, what symmetrization does, and that nothing is lost or left to chance."""

import logging
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.extraction.symmetrization import HEURISTICS
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.word_alignment import align_direction, alignment, directions
from phrasebeam.training.word_alignment.alignment import align, cut, one_direction, schedule, symmetrize
from phrasebeam.training.word_alignment.alignment_settings import Aligner, AlignmentConfig
from tests.naive import alignment as naive

DOUBLED = 5  # words below this id have translations of two words


def corpus(sentences):
    offsets = np.cumsum([0, *map(len, sentences)])
    return Corpus(offsets.astype(np.int64), np.array([w for s in sentences for w in s], np.int32))


def reversed_bitext(n_pairs, seed=0):
    """Word w becomes 100 + w, or 100 + w, 200 + w if doubled, and the order is reversed; with the true points."""
    rng = np.random.default_rng(seed)
    sources, targets, truth = [], [], set()
    for n in range(n_pairs):
        source = rng.choice(40, rng.integers(3, 9), replace=False).tolist()
        target = []
        for i in reversed(range(len(source))):
            for word in [100 + source[i], 200 + source[i]][: 2 if source[i] < DOUBLED else 1]:
                truth.add((n, i, len(target)))
                target.append(word)
        sources.append(source)
        targets.append(target)
    return corpus(sources), corpus(targets), truth


def points_of(alignments):
    return {(n, i, j) for n in range(len(alignments.offsets) - 1) for i, j in alignments.pair(n).tolist()}


def f1(found, truth):
    return 2 * len(found & truth) / (len(found) + len(truth))


@pytest.mark.parametrize("aligner", get_args(Aligner))
def test_finds_the_translations(aligner):
    source, target, truth = reversed_bitext(400)
    found = align(source, target, AlignmentConfig(aligner=aligner, effort=0.3))
    # fast_align believes in the diagonal, and this bitext is all against it.
    assert f1(points_of(found), truth) > (0.7 if aligner == "fast_align" else 0.97)


def test_one_direction_links_each_word_at_most_once():
    source, target, truth = reversed_bitext(400)
    forward = points_of(align(source, target, AlignmentConfig(symmetrization="source_to_target", effort=0.3)))
    backward = points_of(align(source, target, AlignmentConfig(symmetrization="target_to_source", effort=0.3)))
    assert len({(n, j) for n, _, j in forward}) == len(forward)
    assert len({(n, i) for n, i, _ in backward}) == len(backward)
    # Only the first can say that one source word became two.
    assert f1(forward, truth) > 0.97
    assert len(backward & truth) / len(backward) > 0.97
    assert len(backward) < len(truth)


def test_same_for_a_seed_and_any_number_of_threads():
    source, target, _ = reversed_bitext(60)
    one, two, four = (align(source, target, AlignmentConfig(effort=0.1), threads) for threads in (1, 2, 4))
    assert points_of(one) == points_of(two) == points_of(four)
    assert one.points.dtype == np.int32
    assert one.offsets.dtype == np.int64


def test_empty_sides_and_long_sentences(caplog):
    rng = np.random.default_rng(0)
    sources = [[], [1, 2], *(rng.choice(60, 8, replace=False).tolist() for _ in range(150)), rng.integers(0, 60, 250)]
    targets = [[101], [], *([100 + word for word in sentence] for sentence in sources[2:])]
    with caplog.at_level(logging.WARNING):
        found = align(corpus(sources), corpus(targets), AlignmentConfig(aligner="hmm"))
    assert "1 sentence pairs have more than 200 words and are aligned in pieces" in caplog.text
    assert found.offsets[2] == 0
    truth = {(i, i) for i in range(250)}
    assert f1({(i, j) for i, j in found.pair(152).tolist()}, truth) > 0.97


def test_nothing_to_align():
    for sentences in ([], [[]], [[1, 2]]):
        found = align(corpus(sentences), corpus([[] for _ in sentences]), AlignmentConfig())
        assert found.offsets.tolist() == [0] * (len(sentences) + 1)
        assert found.points.shape == (0, 2)


lengths = st.integers(0, 30)


@given(st.lists(st.tuples(lengths, lengths), max_size=6), st.integers(1, 12))
def test_cut_agrees_with_lists(sizes, limit):
    sources = [list(range(n)) for n, _ in sizes]
    targets = [list(range(m)) for _, m in sizes]
    found = cut(corpus(sources), corpus(targets), limit)
    expected = [(n, pair) for n in range(len(sizes)) for pair in naive.pieces(sources[n], targets[n], limit)]
    assert found.pairs.tolist() == [n for n, _ in expected]
    for p, (_, (source, target)) in enumerate(expected):
        assert found.source.sentence(p).tolist() == source
        assert found.target.sentence(p).tolist() == target


@st.composite
def links(draw):
    """Sizes of a pair, the source of each target word, the target of each source word; -1 for none."""
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    sources_of = draw(st.lists(st.integers(-1, n - 1), min_size=m, max_size=m)) if n else [-1] * m
    targets_of = draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n)) if m else [-1] * n
    return n, m, sources_of, targets_of


@settings(max_examples=200)
@given(st.lists(links(), max_size=3))
def test_symmetrization_agrees_with_sets(pairs):
    source, target = corpus([[0] * n for n, *_ in pairs]), corpus([[0] * m for _, m, *_ in pairs])
    sources_of = np.array([i for _, _, of, _ in pairs for i in of], np.int32)
    targets_of = np.array([j for *_, of in pairs for j in of], np.int32)
    expected = {heuristic: [] for heuristic in ("grow_diag_final_and", "union", "intersection")}
    for pair, (_, _, sources, targets) in enumerate(pairs):
        forward = {(i, j) for j, i in enumerate(sources) if i >= 0}
        backward = {(i, j) for i, j in enumerate(targets) if j >= 0}
        expected["grow_diag_final_and"] += [
            (pair, i, j) for i, j in sorted(naive.grow_diag_final_and(forward, backward))
        ]
        expected["union"] += [(pair, i, j) for i, j in sorted(forward | backward)]
        expected["intersection"] += [(pair, i, j) for i, j in sorted(forward & backward)]
    for heuristic, points in expected.items():
        found = symmetrize(source, target, sources_of, targets_of, heuristic)
        assert [tuple(point) for point in found.tolist()] == points


def test_heuristics_by_hand():
    """Source a b c, target x y z: forward says x<-a, y<-b, z<-b; backward says a->x, b->y, c->x."""
    source, target = corpus([[0, 1, 2]]), corpus([[0, 1, 2]])
    sources_of, targets_of = np.array([0, 1, 1], np.int32), np.array([0, 1, 0], np.int32)
    found = {h: symmetrize(source, target, sources_of, targets_of, h)[:, 1:].tolist() for h in HEURISTICS}
    assert found["intersection"] == [[0, 0], [1, 1]]
    assert found["union"] == [[0, 0], [1, 1], [1, 2], [2, 0]]
    # (1, 2) lies beside (1, 1); (2, 0) is diagonal to it, and c is still free.
    assert found["grow"] == found["och"] == [[0, 0], [1, 1], [1, 2]]
    assert found["grow_diag"] == found["grow_diag_final_and"] == found["grow_diag_final"] == found["union"]
    assert one_direction(targets_of, source).tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 0]]


def test_schedule():
    assert schedule(AlignmentConfig(), 29000) == [("eflomal", [7, 7, 29])]
    assert schedule(AlignmentConfig(), 10**9) == [("eflomal", [2, 1, 2])]
    expected = [("ibm1", [5]), ("hmm", [5]), ("ibm3", [3]), ("ibm4", [3])]
    assert schedule(AlignmentConfig(aligner="ibm4"), 7) == expected


def test_every_symmetrization_of_the_settings_is_known():
    names = set(AlignmentConfig.model_fields["symmetrization"].annotation.__args__)
    assert names == {*HEURISTICS, "source_to_target", "target_to_source"}
    assert {name for models in alignment.STAGES.values() for name in models} == set(align_direction.MODELS)


def test_a_dead_aligner_is_an_error(monkeypatch):
    source, target, _ = reversed_bitext(20)
    popen = subprocess.Popen

    def dying(command, **options):
        return popen([sys.executable, "-c", "import sys; sys.exit(3)"], **options)

    monkeypatch.setattr(directions.subprocess, "Popen", dying)
    with pytest.raises(SmtError, match="word aligner ended with status 3"):
        align(source, target, AlignmentConfig())
