"""Strategies, beams and differences of the perceptron against their definitions."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_weights import fill_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.maxforce.comparison import Comparison, TrainingExample
from phrasebeam.training.maxforce.updates import UPDATES, Bins
from tests.decoder.features.test_sparse_features import add_templates, all_vectors, templates_of, with_tags
from tests.decoder.forced.test_forced import problem
from tests.decoder.models import REORDERINGS, random_toy, toy_name
from tests.naive import maxforce as naive
from tests.naive.search import future_cost

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("maxforce")


@st.composite
def random_bins(draw):
    n = draw(st.integers(1, 8))
    scores = st.none() | st.integers(-3, 3).map(float)
    row = st.lists(scores, min_size=n + 1, max_size=n + 1)
    has_good = draw(st.lists(st.booleans(), min_size=n + 1, max_size=n + 1))
    future = st.tuples(*(st.integers(-2, 0).map(float) for _ in range(2)))
    futures = draw(st.lists(future, min_size=n + 1, max_size=n + 1))
    return draw(row), draw(row), futures, has_good, draw(st.booleans()), draw(st.none() | st.just(0.0))


def as_array(scores):
    return np.array([-np.inf if score is None else score for score in scores])


@given(random_bins(), st.integers(1, 4))
def test_strategies_are_their_definitions(problem, phrase_limit):
    good, bad, futures, has_good, is_solved, closest = problem
    differences = [bad - good for good, bad in futures]
    violation = as_array([None if None in of else of[1] - of[0] + of[2] for of in zip(good, bad, differences)])
    bins = Bins(as_array(good), as_array(bad), violation, np.array(has_good), is_solved, *as_array([closest]))
    found = {name: update(bins, phrase_limit) for name, update in UPDATES.items()}
    expected = naive.strategies(*problem, phrase_limit)
    assert {name: update and update.bin for name, update in found.items()} == expected
    assert {name for name, update in found.items() if update and update.closest} <= {"local"}


def comparison(directory, seed, reordering, templates, update, future_share=0.0, gold_limit=0, margin=0.0):
    """A toy with sparse features and random weights, and an example whose reference is reachable, or None."""
    toy, words, reference = problem(directory, seed, reordering, longest_sentence=4)
    sentence = with_tags(words, seed)
    if templates is not None:
        maps, scales = add_templates(toy, templates, seed)
        all_vectors(toy, templates, maps, scales, sentence, seed)
    limits = SearchSettings(stack=random.Random(seed).randint(1, 3), beam_threshold=0.0, table_limit=2)
    forced = ForcedDecoder(
        Decoder.load(toy.directory, limits.model_copy(update={"table_limit": gold_limit})),
        ForcedDecodingSettings(least_prefix=2),
    )
    found = Comparison(Decoder.load(toy.directory, limits), forced, update, future_share, margin)
    lattice = forced.lattice(sentence, reference)[1]
    return found, None if lattice is None else TrainingExample(0, sentence, tuple(reference), lattice)


SHARES = st.sampled_from([0.0, 0.5, 1.0])
MARGINS = st.sampled_from([0.0, 0.5, 3.0])


@given(st.integers(0, 2**20), REORDERINGS, SHARES)
@settings(max_examples=30)
def test_beams_are_those_of_the_graph(directory, seed, reordering, share):
    found, example = comparison(directory, seed, reordering, None, "max_violation", share)
    if example is None:
        return
    with found.decoder.searcher.prepare(example.given) as search:
        search.look_up()
        searched = found.beam(example, search)
        options, reference, n_words = searched.result.workspace.options, searched.reference.tolist(), searched.n_words
        found_options = zip(options.begin.tolist(), options.end.tolist(), options.estimate.tolist())
        estimates = {}
        for begin, end, estimate in list(found_options)[: options.first[n_words * options.longest]]:
            estimates[begin, end] = max(estimate, estimates.get((begin, end), -np.inf))

        def remaining(covered):
            return share * future_cost(estimates, [i in covered for i in range(n_words)]) if share else 0.0

        expected = naive.beam(searched.graph, options, n_words, searched.is_whole, reference, remaining)
        beam = searched.beam
    assert beam.bad.tolist() == pytest.approx([-np.inf if bad is None else bad for bad, _ in expected], abs=1e-9)
    assert beam.has_good.tolist() == [has_good for _, has_good in expected]


@given(st.integers(0, 2**20), REORDERINGS, st.none() | templates_of(), st.sampled_from(sorted(UPDATES)), SHARES)
@settings(max_examples=30, deadline=None)
def test_one_search_serves_both_derivations(directory, seed, reordering, templates, update, share):
    """Where y-good derivations have the limits of the beam, sharing its search changes nothing."""
    place = directory / f"both-{seed}-{hash(templates.model_dump_json() if templates else '')}"
    apart, example = comparison(place, seed, reordering, templates, update, share, gold_limit=2)
    if example is None:
        return
    shared = Comparison(apart.decoder, ForcedDecoder(apart.decoder, apart.forced.settings), update, share)
    one, other = apart.difference(example), shared.difference(example)
    for name, value in one._asdict().items():
        np.testing.assert_equal(getattr(other, name), value)


@given(
    st.integers(0, 2**20),
    REORDERINGS,
    st.none() | templates_of(),
    st.sampled_from(sorted(UPDATES)),
    SHARES,
    MARGINS,
)
@settings(max_examples=30, deadline=None)
def test_differences_have_the_lead_of_their_scores(directory, seed, reordering, templates, update, share, margin):
    place = directory / f"{seed}-{hash(templates.model_dump_json() if templates else '')}"
    found, example = comparison(place, seed, reordering, templates, update, share, margin=margin)
    if example is None:
        return
    difference = found.difference(example)
    if difference.bin is None:
        assert not difference.keys.size
        return
    decoder = found.decoder
    weights = weight_vector(decoder.dense_weights, decoder.features)
    assert weights @ difference.dense == pytest.approx(difference.lead + margin, abs=1e-4)
    table = decoder.tables.sparse.weights
    learned = np.zeros(difference.keys.size)
    fill_weights(table, difference.keys, learned)
    learned *= difference.values
    for name, place in zip(GROUPS, decoder.features.places().sparse.tolist()):
        of_group = difference.groups == GROUPS.index(name)
        assert learned[of_group].sum() == pytest.approx(difference.dense[place] if place >= 0 else 0, abs=1e-9)
    if update == "max_violation":
        assert difference.lead <= 0


@given(st.integers(0, 2**20), REORDERINGS, SHARES, MARGINS)
@settings(max_examples=30, deadline=None)
def test_bins_with_a_margin_have_higher_scores_of_bad_ones(directory, seed, reordering, share, margin):
    found, example = comparison(directory, seed, reordering, None, "standard", share)
    if example is None:
        return
    with (
        found.forced.prepare(example.given, example.reference) as forced_search,
        found.decoder.searcher.prepare(example.given) as search,
    ):
        gold = forced_search.score(example.lattice)
        search.look_up()
        beam = found.beam(example, search)
        plain, raised = (replace(found, margin=by).bins(gold, beam, None)[0] for by in (0.0, margin))
    np.testing.assert_array_equal(raised.good, plain.good)
    np.testing.assert_array_equal(raised.bad, plain.bad + margin)
    np.testing.assert_array_equal(raised.violation, plain.violation + margin)
    leads = not margin or plain.good[-1] - plain.bad[-1] > margin
    assert raised.is_solved == (plain.is_solved and leads)


def test_translated_sentences_are_learned_from_until_they_lead_by_the_margin(directory):
    """What the best translation is does not count with a margin, but by how much."""
    n_solved = 0
    for seed in range(40):
        found, example = comparison(directory / "lead", seed, None, None, "standard")
        if example is None or not found.difference(example).is_solved:
            continue
        wide = replace(found, margin=1e4).difference(example)
        assert not wide.is_solved or wide.bin is None
        n_solved += wide.bin is not None
    assert n_solved > 0


def test_toys_reach_all_strategies(directory):
    """The examples above are not all without updates."""
    n_updates = dict.fromkeys(UPDATES, 0)
    for seed in range(12):
        for update in UPDATES:
            found, example = comparison(directory / "reach", seed, None, None, update)
            if example is not None:
                n_updates[update] += found.difference(example).bin is not None
    assert min(n_updates.values()) > 0


def test_reweighed_decoders_are_new_ones(directory):
    """Nothing of the weights before is remembered."""
    toy = random_toy(directory / toy_name(5, None), 5, most=30, reordering=None)
    other = random_toy(directory / toy_name(6, None), 6, reordering=None)
    weights = load_config(other.directory / "weights.yaml", Weights)
    limits = SearchSettings(table_limit=1, stack=3)
    decoder = Decoder.load(toy.directory, limits)
    lines = ["a b c d", "b b a", "d c a b"]
    before = [decoder.translate(line) for line in lines]
    decoder.reweigh(weights)
    expected = Decoder.load(toy.directory, limits, weights)
    assert [decoder.translate(line) for line in lines] == [expected.translate(line) for line in lines]
    decoder.reweigh(decoder.model.weights)
    assert [decoder.translate(line) for line in lines] == before
