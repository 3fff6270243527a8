"""The search against brute force: all segmentations in all orders."""

import random
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import REORDERINGS, SOURCE, last_workspace, random_toy, toy_name
from tests.naive.search import best_of_bins, best_options, derivations, features, future_cost

pytestmark = pytest.mark.kernels

UNLIMITED = {"stack": 0, "beam_threshold": 0, "table_limit": 0}
SEEDS = st.integers(0, 2**20)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def toy_problem(directory, seed, reordering, longest_sentence=5):
    """A random model and a random sentence, sometimes with words that the model does not know."""
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering, early=seed % 3 == 0)
    rng = random.Random(seed)
    return toy, rng.choices([*SOURCE, "x"], k=rng.choice(range(1, longest_sentence + 1)))


def enumerate_scores(toy, words, distortion_limit):
    """The score of every derivation, best first, and the feature vector of the best."""
    vectors = [
        features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early)
        for derivation in derivations(toy.table, words, toy.longest, distortion_limit)
    ]
    scores = np.array(vectors) @ toy.weights
    return np.sort(scores)[::-1], vectors[int(scores.argmax())]


def flat(values):
    """The feature vector behind Translation.features."""
    return np.concatenate([np.atleast_1d(value) for value in values.values()])


def path_scores(graph, n_words):
    """The score of every path to the final node, best first."""
    deltas = {}

    def paths(node):
        if node == 0:
            return [0.0]
        if node not in deltas:
            edges = range(graph.edge_first[node], graph.edge_first[node + 1])
            steps = [(int(graph.edge_from[e]), graph.edge_score[e] - graph.score[graph.edge_from[e]]) for e in edges]
            deltas[node] = [score + step for source, step in steps for score in paths(source)]
        return deltas[node]

    return np.sort(paths(int(graph.stack_first[n_words])))[::-1]


@given(SEEDS, REORDERINGS, st.integers(-1, 4))
@settings(max_examples=40)
def test_without_limits_the_search_finds_the_best_of_all_derivations(directory, seed, reordering, distortion_limit):
    toy, words = toy_problem(directory, seed, reordering)
    decoder = Decoder.load(toy.directory, SearchSettings(distortion_limit=distortion_limit, **UNLIMITED))
    found = decoder.translate(" ".join(words))
    scores, best = enumerate_scores(toy, words, distortion_limit)
    assert found.score == pytest.approx(scores[0], abs=1e-4)
    assert toy.weights @ flat(found.features) == pytest.approx(found.score, abs=1e-6)
    if scores.size == 1 or scores[0] - scores[1] > 1e-3:  # no tie: the derivation itself is the same
        assert flat(found.features) == pytest.approx(best, abs=1e-4)


@given(SEEDS, REORDERINGS, st.integers(-1, 4))
@settings(max_examples=25)
def test_the_graph_keeps_every_derivation(directory, seed, reordering, distortion_limit):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=4)
    decoder = Decoder.load(toy.directory, SearchSettings(distortion_limit=distortion_limit, **UNLIMITED))
    decoder.translate(" ".join(words))
    scores, _ = enumerate_scores(toy, words, distortion_limit)
    assert path_scores(last_workspace(decoder).graph, len(words)) == pytest.approx(scores, abs=1e-4)


@given(SEEDS, REORDERINGS, st.integers(1, 4), st.sampled_from([0, 1e-5, 0.5]))
@settings(max_examples=25)
def test_pruning_loses_score_but_stays_truthful(directory, seed, reordering, stack, beam_threshold):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=6)
    pruned = Decoder.load(toy.directory, SearchSettings(stack=stack, beam_threshold=beam_threshold)).translate(
        " ".join(words)
    )
    best = Decoder.load(toy.directory, SearchSettings(**UNLIMITED)).translate(" ".join(words))
    assert pruned.score <= best.score + 1e-9
    assert toy.weights @ flat(pruned.features) == pytest.approx(pruned.score, abs=1e-6)


@given(SEEDS, REORDERINGS, st.integers(-1, 4), st.booleans())
@settings(max_examples=40)
def test_bins_keep_the_best_with_and_without_future_cost(directory, seed, reordering, limit, is_counted):
    toy = random_toy(directory / toy_name(seed, reordering) / "late", seed, reordering=reordering)
    words = random.Random(seed).choices([*SOURCE, "x"], k=5)
    one_each = UNLIMITED | {"stack": 1, "distortion_limit": limit, "future_cost": is_counted}
    places = [(begin, end) for begin in range(5) for end in range(begin + 1, min(5, begin + toy.longest) + 1)]
    found = {at: best_options(toy.table, words, *at, toy.weights, toy.lm, toy.order, 1) for at in places}
    estimates = {at: best[0][1] if is_counted else 0.0 for at, best in found.items() if best}

    def score(derivation):
        is_complete = sum(end - begin for (begin, end), _ in derivation) == len(words)
        return toy.weights @ features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early, is_complete)

    remaining = partial(future_cost, estimates)
    expected = best_of_bins(toy.table, words, toy.longest, limit, score, remaining)
    if expected is None or expected[-1] is None:
        return
    decoder = Decoder.load(toy.directory, SearchSettings(**one_each))
    decoder.translate(" ".join(words))
    graph = last_workspace(decoder).graph
    first = graph.stack_first[: len(words) + 2].tolist()
    kept = [graph.score[begin] if begin < end else None for begin, end in pairwise(first)]
    assert kept == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("orientation", "n_words"), [("word", 8), ("hier", 5)])
def test_what_is_too_small_grows(directory, orientation, n_words):
    toy, _ = toy_problem(directory, 11, Reordering(orientation=orientation))
    line = " ".join(random.Random(1).choices(SOURCE, k=n_words))
    expected = Decoder.load(toy.directory, SearchSettings(**UNLIMITED)).translate(line)
    decoder = Decoder.load(toy.directory, SearchSettings(**UNLIMITED))
    decoder.translate("a")
    workspace = last_workspace(decoder)
    workspace.n_states = workspace.n_nodes = workspace.n_edges = workspace.stack_size = workspace.stack_edges = 2
    workspace.n_options, workspace.n_target_words, workspace.n_histories = 2, 2, 2
    workspace.rebuild()
    assert decoder.translate(line) == expected
    assert workspace.n_nodes > 2
    assert orientation == "word" or workspace.n_histories > 8
