"""Forced decoding against the enumeration of all derivations of small sentence pairs."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.forced.forced_states import links_before
from phrasebeam.decoder.forced.forced_workspace import FIRST_NODES, ForcedWorkspace
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stacks import EDGES_FULL, NODES_FULL
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import REORDERINGS, SOURCE, TARGET, random_toy, toy_name
from tests.inner_kernels import is_closed
from tests.naive.forced import forced
from tests.naive.search import features, options

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
SETTINGS = st.builds(
    ForcedDecodingSettings, prefixes=st.sampled_from(["longest", "all", "none"]), least_prefix=st.integers(1, 3)
)
CLOSED = st.builds(ForcedDecodingSettings, prefixes=st.just("closed"), least_prefix=st.integers(1, 3))


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def problem(directory, seed, reordering, longest_sentence=5):
    """A random model, a sentence, and a reference that is often reachable."""
    toy = random_toy(directory / toy_name(seed, reordering), seed, most=3, reordering=reordering, early=seed % 3 == 0)
    rng = random.Random(seed)
    words = rng.choices([*SOURCE, *SOURCE, "x"], k=rng.randint(1, longest_sentence))
    begin, spans = 0, []
    while begin < len(words):
        ends = [end for end in range(begin + 1, len(words) + 1) if options(toy.table, words, begin, end)]
        spans.append((begin, rng.choice(ends) if ends else begin + 1))
        begin = spans[-1][1]
    if rng.random() < 0.5:
        rng.shuffle(spans)
    reference = [w for span in spans for w in rng.choice(options(toy.table, words, *span) or [(["z"],)])[0]]
    if rng.random() < 0.3:
        reference[rng.randrange(len(reference)) :] = rng.choices([*TARGET, "a", "x", "z"], k=rng.randint(1, 2))
    return toy, words, reference


def spelled(derivation):
    return tuple((span, tuple(option[0])) for span, option in derivation)


def score(toy, derivation, is_complete):
    return toy.weights @ features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early, is_complete)


def lattice_derivations(lattice, result):
    """All paths of a lattice from its start to its ends, spelled."""
    target = [tuple(result.target(pair)) for pair in lattice.rule_pair.tolist()]
    rules = [((b, e), t) for b, e, t in zip(lattice.rule_begin.tolist(), lattice.rule_end.tolist(), target)]

    def paths(state):
        if state == 0:
            return [()]
        arcs = range(lattice.arc_first[state], lattice.arc_first[state + 1])
        return [(*path, rules[lattice.arc_rule[arc]]) for arc in arcs for path in paths(lattice.arc_from[arc])]

    return [path for state in np.flatnonzero(lattice.is_end).tolist() for path in paths(state)]


@given(SEEDS, REORDERINGS, st.integers(-1, 4), SETTINGS)
@settings(max_examples=40)
def test_agrees_with_all_derivations(directory, seed, reordering, distortion_limit, wanted):
    toy, words, reference = problem(directory, seed, reordering, longest_sentence=4)
    limits = SearchSettings(table_limit=0, distortion_limit=distortion_limit)
    decoder = ForcedDecoder.load(toy.directory, limits, wanted)
    found = decoder.force(" ".join(words), " ".join(reference))
    least, prefixes = wanted.least_prefix, wanted.prefixes
    status, pair, expected = forced(toy.table, words, reference, toy.longest, distortion_limit, least, prefixes)
    assert found.status == status
    assert (found.source_prefix, found.target_prefix) == (pair or (0, 0))
    if status == "unreachable":
        assert (found.best, found.ln_derivations, found.lattice) == (None, None, None)
        return
    assert found.ln_derivations == pytest.approx(math.log(len(expected)))
    check_best(toy, found, [d for d in expected if sum(len(o[0]) for _, o in d) == pair[1]], pair)
    with decoder.prepare(Input(words), reference) as search:
        paths = lattice_derivations(found.lattice, search.result)
        assert sorted(paths) == sorted(map(spelled, expected))
        check_partial(toy, search, expected)


def check_best(toy, found, expected, pair):
    """The best derivation is that of rescoring every derivation of the longest prefix pair."""
    ends = [d for d in expected if sum(e - b for (b, e), _ in d) == pair[0]]
    scores = [score(toy, d, found.status == "reachable") for d in ends]
    assert found.best.score == pytest.approx(max(scores), abs=1e-4)
    values = np.concatenate([np.atleast_1d(value) for value in found.best.features.values()])
    assert toy.weights @ values == pytest.approx(found.best.score, abs=1e-6)
    named = tuple((phrase.source_span, tuple(phrase.target.split())) for phrase in found.best.phrases)
    assert named in set(map(spelled, ends))
    best = ends[int(np.argmax(scores))]
    if sum(s > max(scores) - 1e-3 for s in scores) == 1:
        assert named == spelled(best)


def check_partial(toy, search, expected):
    """The best partial derivation for each number of covered words is one that lies on a derivation of the lattice."""
    gold = search.score(search.lattice()[1])
    best = {}
    for derivation in expected:
        for k in range(len(derivation) + 1):
            covered = sum(end - begin for (begin, end), _ in derivation[:k])
            value = score(toy, derivation[:k], covered == search.n_words)
            best[covered] = max(best.get(covered, -math.inf), value)
    assert {k: gold.score(node) for k, node in enumerate(gold.best_node.tolist()) if node >= 0} == pytest.approx(
        best, abs=1e-4
    )
    for node in gold.best_node[gold.best_node >= 0].tolist():
        assert toy.weights @ gold.features(node) == pytest.approx(gold.score(node), abs=1e-6)


@given(SEEDS, SETTINGS | CLOSED, st.booleans(), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=5))
@settings(max_examples=80)
def test_only_what_fits_the_word_alignment(directory, seed, wanted, is_aligned, points):
    wanted = wanted.model_copy(update={"aligned": is_aligned})
    toy, words, reference = problem(directory, seed, Reordering(), longest_sentence=4)
    links = {(i, j) for i, j in points | {(i, i) for i in range(4)} if i < len(words) and j < len(reference)}
    decoder = ForcedDecoder.load(toy.directory, SearchSettings(table_limit=0, distortion_limit=4))
    with decoder.prepare(Input(words), reference) as search:
        search.settings, search.links = wanted, links_before(sorted(links), len(words), len(reference))
        status, lattice = search.lattice()
        paths = [] if lattice is None else lattice_derivations(lattice, search.result)
    limits = toy.longest, 4, wanted.least_prefix, wanted.prefixes
    expected = forced(toy.table, words, reference, *limits, links, is_aligned)
    assert (status, sorted(paths)) == (expected[0], sorted(map(spelled, expected[2])))


@given(st.integers(1, 4), st.integers(1, 4), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_prefix_pairs_that_the_word_alignment_closes(n_words, n_reference, points):
    links = {(i, j) for i, j in points if i < n_words and j < n_reference}
    before = links_before(sorted(links), n_words, n_reference)
    for source in range(n_words + 1):
        for target in range(n_reference + 1):
            leads_out = any((i < source) != (j < target) for i, j in links)
            ends = target == n_reference or any(j == target for _, j in links)
            assert is_closed(before, np.int64(source), np.int64(target)) == (ends and not leads_out)


@pytest.mark.parametrize(("name", "value"), [("aligned", True), ("prefixes", "closed")])
def test_alignments_are_needed_where_they_shall_fit(directory, name, value):
    toy, words, reference = problem(directory, 1, Reordering())
    decoder = ForcedDecoder.load(toy.directory, settings=ForcedDecodingSettings.model_validate({name: value}))
    with pytest.raises(ConfigError, match=rf"forcing\.{name}( closed)? needs word alignments"):
        decoder.force(" ".join(words), reference)


@given(SEEDS, st.integers(0, 3))
@settings(max_examples=20)
def test_a_lattice_can_be_scored_again_by_others(directory, seed, n_more):
    toy, words, reference = problem(directory, seed, Reordering())
    first = ForcedDecoder.load(toy.directory)
    found = first.force(" ".join(words), reference)
    if found.lattice is None:
        return
    weights = first.decoder.model.weights.model_copy(update={"translation": [0.7, 0.1, 0.2, 0.1 * n_more]})
    other = ForcedDecoder.load(toy.directory, weights=weights)
    expected = other.force(" ".join(words), reference).best.score
    with other.prepare(Input(words), reference) as search:
        gold = search.score(found.lattice)
        assert gold.score(gold.best_node[found.source_prefix]) == pytest.approx(expected, abs=1e-9)
    has_pairs = found.lattice.rule_pair.max() >= 0
    for others in ([*words, "x"], ["y"] * len(words))[: 1 + has_pairs]:
        refused = pytest.raises(ModelError, match="the lattice has phrase pairs that the sentence does not have")
        with other.prepare(Input(others), reference) as search, refused:
            search.score(found.lattice)


@given(SEEDS, st.integers(1, 2))
@settings(max_examples=20)
def test_the_table_limit_is_that_of_the_search(directory, seed, limit):
    """What the search finds without pruning can be forced, and then has the same score."""
    toy, words, _ = problem(directory, seed, Reordering())
    limits = SearchSettings(table_limit=limit, stack=0, beam_threshold=0)
    expected = Decoder.load(toy.directory, limits).translate(" ".join(words))
    found = ForcedDecoder.load(toy.directory, limits).force(" ".join(words), expected.text)
    assert found.status == "reachable"
    assert found.best.score == pytest.approx(expected.score, abs=1e-9)
    assert found.best.text == expected.text


@given(SEEDS, st.integers(1, 2))
@settings(max_examples=40)
def test_scores_leave_out_what_the_table_limit_does(directory, seed, limit):
    toy, words, reference = problem(directory, seed, Reordering())
    wanted = ForcedDecodingSettings(prefixes="none")
    every = ForcedDecoder.load(toy.directory, settings=wanted)
    lattice = every.lattice(Input(words), reference)[1]
    if lattice is None:
        return
    limited = ForcedDecoder.load(toy.directory, SearchSettings(table_limit=limit), wanted)
    expected = limited.force(Input(words), reference).best
    with limited.prepare(Input(words), reference) as search:
        gold = search.score(lattice)
        node = gold.best_node[len(words)]
        assert (node >= 0) == (expected is not None)
        if expected is not None:
            assert gold.score(node) == pytest.approx(expected.score, abs=1e-9)


def many_ways(directory, n=9):
    """A sentence pair of `n` words with n! derivations and more."""
    toy = random_toy(directory / "many", 3, reordering=Reordering(orientation="hier"))
    word = next(source for source in toy.table if " " not in source)
    target = toy.table[word][0][0]
    return toy, [word] * n, target.split() * n


@pytest.mark.needs_jit
def test_too_many_states_are_reported(directory):
    toy, words, reference = many_ways(directory)
    limits = SearchSettings(table_limit=0, distortion_limit=-1)
    whole = ForcedDecoder.load(toy.directory, limits).force(Input(words), reference)
    assert whole.status == "reachable"
    assert math.exp(whole.ln_derivations) > math.factorial(9) - 1
    n_states = 600  # there are n of each n of 2^9 coverages, and the start
    small = ForcedDecoder.load(toy.directory, limits, ForcedDecodingSettings(max_states=n_states))
    found = small.force(Input(words), reference)
    assert (found.status, found.best, found.lattice) == ("too large", None, None)


@pytest.mark.needs_jit
def test_too_many_nodes_are_reported(directory):
    toy, words, reference = many_ways(directory)
    limits = SearchSettings(table_limit=0, distortion_limit=-1)
    small = ForcedDecoder.load(toy.directory, limits, ForcedDecodingSettings(max_states=1 << 12))
    with small.prepare(Input(words), reference) as search:
        status, lattice = search.lattice()
        assert (status, len(lattice.position)) == ("reachable", 2297)  # of which blocks make 275,822 nodes
        assert search.score(lattice) is None
    assert small.force(Input(words), reference).status == "too large"
    part = Input(words[:6]), reference[:6]
    assert small.force(*part).best == ForcedDecoder.load(toy.directory, limits).force(*part).best


def test_room_that_edges_took_is_no_reason_to_refuse_nodes():
    workspace = ForcedWorkspace(1 << 12)
    for _ in range(4):
        assert workspace.grow_graph(EDGES_FULL)
    assert workspace.grow_graph(NODES_FULL)
    assert workspace.grow_graph(NODES_FULL)
    assert not workspace.grow_graph(NODES_FULL)
    assert workspace.n_nodes == FIRST_NODES


def test_what_is_too_small_grows(directory):
    toy, words, reference = many_ways(directory, 6)
    limits = SearchSettings(table_limit=0, distortion_limit=3)
    expected = ForcedDecoder.load(toy.directory, limits).force(Input(words), reference)
    decoder = ForcedDecoder.load(toy.directory, limits)
    decoder.force(Input(words[:2]), reference[:2])
    with decoder._workspaces.borrow() as workspace:
        workspace.n_states = workspace.n_arcs = workspace.n_nodes = workspace.n_edges = workspace.n_words = 2
        workspace.new_states()
        workspace.new_graph()
    found = decoder.force(Input(words), reference)
    assert (found.best, found.ln_derivations) == (expected.best, expected.ln_derivations)
    assert all(np.array_equal(one, other) for one, other in zip(found.lattice, expected.lattice))
    assert workspace.n_states < expected.lattice.position.size * 64


def test_words_of_the_table_are_not_copied(directory):
    """Not even where none of their pairs yields the reference."""
    toy = random_toy(directory / "known", 3)
    word = next(source for source in toy.table if " " not in source)
    decoder = ForcedDecoder.load(toy.directory)
    assert decoder.force(word, word).status == "unreachable"
    assert decoder.force("x", "x").status == "reachable"


@pytest.mark.parametrize(("line", "reference"), [("", ""), ("", "s"), ("a", "")])
def test_without_words_nothing_is_reachable(directory, line, reference):
    toy, _, _ = problem(directory, 1, None)
    assert ForcedDecoder.load(toy.directory).force(line, reference).status == "unreachable"
