"""Cube pruning: without a limit it is the exhaustive search, with one it is truthful and loses little."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import REORDERINGS, SOURCE, last_workspace, random_toy
from tests.decoder.search.test_search import SEEDS, UNLIMITED, enumerate_scores, flat, path_scores, toy_problem

pytestmark = pytest.mark.kernels

CUBE = {"algorithm": "cube", "pop_limit": 0}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


@given(SEEDS, REORDERINGS, st.integers(-1, 4))
@settings(max_examples=40)
def test_without_limits_the_graph_keeps_every_derivation(directory, seed, reordering, distortion_limit):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=4)
    decoder = Decoder.load(toy.directory, SearchSettings(distortion_limit=distortion_limit, **CUBE, **UNLIMITED))
    found = decoder.translate(" ".join(words))
    scores, _ = enumerate_scores(toy, words, distortion_limit)
    assert found.score == pytest.approx(scores[0], abs=1e-4)
    assert path_scores(last_workspace(decoder).graph, len(words)) == pytest.approx(scores, abs=1e-4)


# With a limited stack the order of arrivals counts: a state that was dropped and arrives again lost its older edges.
@given(SEEDS, REORDERINGS, st.integers(-1, 4), st.sampled_from([0, 1e-3, 0.5]))
@settings(max_examples=40)
def test_without_a_pop_limit_it_finds_what_the_stack_search_finds(
    directory, seed, reordering, distortion_limit, beam_threshold
):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=6)
    limits = {"stack": 0, "beam_threshold": beam_threshold, "distortion_limit": distortion_limit}
    cube = Decoder.load(toy.directory, SearchSettings(**CUBE, **limits))
    plain = Decoder.load(toy.directory, SearchSettings(**limits))
    line = " ".join(words)
    assert cube.translate(line).score == pytest.approx(plain.translate(line).score, abs=1e-9)
    graphs = [last_workspace(decoder).graph for decoder in (cube, plain)]
    n_nodes = [graph.stack_first[: len(words) + 2].tolist() for graph in graphs]
    assert n_nodes[0] == n_nodes[1]
    kept = [np.sort(graph.score[: graph.stack_first[len(words) + 1]]) for graph in graphs]
    assert kept[0] == pytest.approx(kept[1], abs=1e-9)


@given(SEEDS, REORDERINGS, st.integers(1, 9), st.sampled_from([0, 2, 100]), st.sampled_from([0, 0.5]))
@settings(max_examples=40)
def test_a_pop_limit_loses_score_but_stays_truthful(directory, seed, reordering, pop_limit, stack, beam_threshold):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=6)
    search = SearchSettings(algorithm="cube", pop_limit=pop_limit, stack=stack, beam_threshold=beam_threshold)
    decoder = Decoder.load(toy.directory, search)
    pruned = decoder.translate(" ".join(words))
    best = Decoder.load(toy.directory, SearchSettings(**UNLIMITED)).translate(" ".join(words))
    assert pruned.score <= best.score + 1e-9
    assert toy.weights @ flat(pruned.features) == pytest.approx(pruned.score, abs=1e-6)
    graph = last_workspace(decoder).graph
    for covered in range(1, len(words) + 1):
        first, end = graph.edge_first[graph.stack_first[covered : covered + 2]]
        assert 1 <= end - first <= pop_limit


@pytest.mark.needs_jit
def test_more_pops_find_more(directory):
    totals = dict.fromkeys((1, 3, 10, 1000), 0.0)
    for seed in range(12):
        toy = random_toy(directory / f"rich-{seed}", seed, most=6)
        line = " ".join(random.Random(seed).choices(SOURCE, k=10))
        for pop_limit in totals:
            search = SearchSettings(algorithm="cube", pop_limit=pop_limit, distortion_limit=3)
            totals[pop_limit] += Decoder.load(toy.directory, search).translate(line).score
    assert totals[1] < totals[3] < totals[10] <= totals[1000] + 1e-9


@pytest.mark.parametrize(("orientation", "n_words"), [("word", 8), ("hier", 5)])
def test_what_is_too_small_grows(directory, orientation, n_words):
    toy, _ = toy_problem(directory, 11, Reordering(orientation=orientation))
    line = " ".join(random.Random(1).choices(SOURCE, k=n_words))
    expected = Decoder.load(toy.directory, SearchSettings(**CUBE, **UNLIMITED)).translate(line)
    decoder = Decoder.load(toy.directory, SearchSettings(**CUBE, **UNLIMITED))
    decoder.translate("a")
    workspace = last_workspace(decoder)
    workspace.n_states = workspace.n_nodes = workspace.n_edges = workspace.stack_size = workspace.stack_edges = 2
    workspace.n_queued = workspace.n_histories = 2
    workspace.rebuild()
    assert decoder.translate(line) == expected
    assert workspace.n_queued > 2
    assert orientation == "word" or workspace.n_histories > 8


def test_one_decoder_translates_the_same_sentence_the_same_way_again(directory):
    toy = random_toy(directory / "again", 5, most=6, coarse=True)
    lines = [" ".join(random.Random(seed).choices(SOURCE, k=9)) for seed in range(6)]
    decoder = Decoder.load(toy.directory, SearchSettings(algorithm="cube", pop_limit=20))
    assert list(decoder.translate_all([*lines, *lines], 2)) == 2 * list(decoder.translate_all(lines))
