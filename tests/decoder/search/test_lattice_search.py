"""The search of lattices and confusion networks against brute force, and against that of text."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import WordEdges
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.features.test_sparse_features import WITHOUT_TAGS, add_templates
from tests.decoder.models import REORDERINGS, SOURCE, random_toy, toy_name
from tests.decoder.search.test_search import flat
from tests.naive import word_lattice as naive
from tests.naive.phrase_templates import PHRASE_GROUPS

pytestmark = pytest.mark.kernels

UNLIMITED = {"stack": 0, "pop_limit": 0, "beam_threshold": 0, "table_limit": 0}
SEEDS = st.integers(0, 2**20)
WEIGHT = 0.7
WORDS = [*SOURCE, *SOURCE, "x", "y", naive.EMPTY]
NEIGHBOURS = "before.", "behind."


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def random_lattice(rng, longest_arc, n=4):
    """The nodes of a lattice of up to `n` positions, with unknown and empty words, and improbable arcs."""
    n = rng.randint(1, n)
    probabilities = [1.0, 0.5, 0.25, 0.01, 0.0]
    return [
        [
            (rng.choice(WORDS), rng.choice(probabilities), rng.randint(1, min(longest_arc, n - i)))
            for _ in range(rng.randint(1, 3))
        ]
        for i in range(n)
    ]


def decoder_of(toy, input_settings=None, **limits):
    model = open_model(toy.directory)
    weights = model.weights.model_copy(update={"input_score": [WEIGHT]})
    return Decoder(model, SearchSettings(**UNLIMITED | limits), weights, input_settings)


def assert_best(directory, seed, reordering, distortion_limit, nodes, algorithm):
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering, early=seed % 3 == 0)
    decoder = decoder_of(toy, distortion_limit=distortion_limit, algorithm=algorithm)
    with decoder.searcher.search(Input.from_lattice(nodes)) as result:
        found, best = result.best(), result.nbest(1, distinct=False)[0]
    assert found.score == pytest.approx(naive.best_score(toy, nodes, distortion_limit, WEIGHT), abs=1e-4)
    assert weight_vector(decoder.dense_weights, decoder.features) @ flat(best.features) == pytest.approx(
        best.score, abs=1e-6
    )


@given(SEEDS, REORDERINGS, st.integers(-1, 3), st.sampled_from(["stack", "cube"]))
@settings(max_examples=40)
def test_the_search_finds_the_best_path_through_a_confusion_network(directory, seed, reordering, limit, algorithm):
    nodes = random_lattice(random.Random(seed), 1)
    assert_best(directory, seed, reordering, limit, nodes, algorithm)


@given(SEEDS, REORDERINGS, st.integers(-1, 3), st.sampled_from(["stack", "cube"]))
@settings(max_examples=40)
def test_the_search_finds_the_best_path_through_a_lattice(directory, seed, reordering, limit, algorithm):
    nodes = random_lattice(random.Random(seed), 3)
    assert_best(directory, seed, reordering, limit, nodes, algorithm)


@given(SEEDS, REORDERINGS)
@settings(max_examples=15)
def test_without_reordering_the_best_path_is_that_whose_text_is_translated_best(directory, seed, reordering):
    rng = random.Random(seed)
    nodes = [[arc for arc in arcs if arc[0] != naive.EMPTY] or [("a", 1.0, 1)] for arcs in random_lattice(rng, 2)]
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering)
    decoder = decoder_of(toy, distortion_limit=0)
    scores = []
    for path in naive.paths(nodes):
        text = decoder.translate(" ".join(word for _, word, _, _ in path))
        scores.append(text.score + WEIGHT * sum(score for _, _, score, _ in path))
    found = decoder.translate(Input.from_lattice(nodes))
    assert found.score == pytest.approx(max(scores), abs=1e-9)


@given(SEEDS, REORDERINGS, st.integers(-1, 3))
@settings(max_examples=15)
def test_a_lattice_of_one_path_is_translated_as_its_text(directory, seed, reordering, limit):
    rng = random.Random(seed)
    words = rng.choices([*SOURCE, "x"], k=rng.randint(0, 6))
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering)
    decoder = decoder_of(toy, distortion_limit=limit, table_limit=1, stack=10)
    assert decoder.nbest(Input.from_lattice([[(word, 1.0, 1)] for word in words]), 5) == decoder.nbest(
        " ".join(words), 5
    )


def test_phrases_name_the_words_and_nodes_of_their_path(directory):
    toy = random_toy(directory / "named", 5)
    toy.table.clear()
    decoder = decoder_of(toy)
    lattice = Input.from_lattice([[("x", 0.5, 2), ("*EPS*", 0.5, 1)], [("y", 0.1, 1)], [("z", 1.0, 1)]])
    best = decoder.translate(lattice)
    assert [(phrase.source, phrase.source_span) for phrase in best.phrases] == [("x", (0, 2)), ("z", (2, 3))]
    assert best.alignment == [(0, 0), (2, 1)]
    assert best.features["input_score"] == pytest.approx([-0.6931472])


def test_only_the_best_paths_are_looked_up(directory):
    toy = random_toy(directory / "narrow", 5)
    network = Input.from_confusion_network([[("x", 0.5), ("y", 0.3), ("z", 0.2)]])
    sizes = [len(decoder_of(toy, InputSettings(lattice_paths=n)).nbest(network, 9)) for n in (1, 2, 9)]
    assert sizes == [1, 2, 3]


@pytest.mark.parametrize(
    ("network", "weights", "message"),
    [
        ([[("a", 0.5)]], None, "no weight for the scores"),
        ([[("a", (0.5, 0.5))]], [1.0], "an arc has 2 scores, and the model 1 weights"),
    ],
)
def test_scores_need_weights(directory, network, weights, message):
    model = open_model(random_toy(directory / "unweighted", 5).directory)
    decoder = Decoder(model, weights=model.weights.model_copy(update={"input_score": weights}))
    with pytest.raises(ConfigError, match=message):
        decoder.translate(Input.from_confusion_network(network))


def test_lattices_have_no_prefix(directory):
    decoder = decoder_of(random_toy(directory / "prefix", 5))
    with pytest.raises(ConfigError, match="cannot have a prefix"):
        decoder.complete(Input.from_confusion_network([[("a", 1.0)]]), "s")


def sparse_values(translation):
    """Values of sparse features by name, but of those that depend on words beside the source phrase."""
    names = translation.sparse_names
    return {
        names[key]: value
        for key, value in translation.sparse.items()
        if not any(part in names[key] for part in NEIGHBOURS)
    }


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.needs_jit) for seed in (2, 3))])
def test_sparse_features_are_those_of_the_words_of_the_path(directory, seed):
    toy, rng = random_toy(directory / f"sparse {seed}", seed, most=3), random.Random(seed)
    edges = WordEdges(budget=8, most_words=2)
    groups = dict.fromkeys([*PHRASE_GROUPS, "rule_id", "rule_bigram", "rule_history", "rule_reordering"], True)
    add_templates(toy, Templates(levels=WITHOUT_TAGS, word_edges=edges, class_reordering=True, **groups), seed)
    decoder, request = decoder_of(toy, distortion_limit=2), Request(n=200, sparse="names")
    network = Input.from_confusion_network([[("a", 0.5), ("x", 0.25)], [("b", 1.0)], [("c", 1.0)]])
    found = decoder.answer(network, request).nbest
    keys = sorted({key for one in found for key in one.sparse})
    table = new_sparse_weights(len(keys))
    add_weights(table, np.array(keys, np.uint64), np.array([rng.uniform(-1, 1) for _ in keys]))
    decoder.reweigh(decoder.model.weights.model_copy(update={"input_score": [WEIGHT]}), table)
    found = decoder.answer(network, request).nbest[:50]
    weights = weight_vector(decoder.dense_weights, decoder.features)
    for one in found:
        assert weights @ flat(one.features) == pytest.approx(one.score, abs=1e-6)
    of_text = {
        (one.phrases, tuple(sorted(sparse_values(one).items())))
        for text in ("a b c", "x b c")
        for one in decoder.answer(text, request).nbest
    }
    assert len(found) > 4
    assert {(one.phrases, tuple(sorted(sparse_values(one).items()))) for one in found} <= of_text
