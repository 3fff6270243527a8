"""Lattices against all their paths, and those against the derivations of n-best lists."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.output.lattice import beam_of_words, connected
from phrasebeam.decoder.search.hypothesis_graph import new_graph
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, WORD_MSD, random_toy
from tests.naive.lattice import paths, within

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 2**20)
ALL = 10**5


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    directory = tmp_path_factory.mktemp("toys")
    reorderings = None, WORD_MSD, Reordering(orientation="hier", kind="mslr")
    return [
        random_toy(directory / f"{seed}-{i}", seed, reordering=reordering, coarse=bool(seed % 2)).directory
        for seed in range(5)
        for i, reordering in enumerate(reorderings)
    ]


@st.composite
def graphs(draw):
    """(graph, words, edges as pairs of nodes, what they add): nodes that lead nowhere, ties, sums without rounding."""
    n_words = draw(st.integers(1, 4))
    sizes = [1, *(draw(st.integers(1, 3)) for _ in range(n_words - 1)), 1]
    first = np.cumsum([0, *sizes])
    graph = new_graph(n_words, first[-1], 100)
    graph.stack_first[:] = first
    edges, added = [], []
    for stack in range(1, n_words + 1):
        for node in range(first[stack], first[stack + 1]):
            ways = draw(
                st.lists(st.tuples(st.integers(0, first[stack] - 1), st.integers(-4, 4)), min_size=1, max_size=3)
            )
            ways.sort(key=lambda way: -graph.score[way[0]] - way[1] / 4)
            for source, quarters in ways:
                graph.edge_from[len(edges)], graph.edge_option[len(edges)] = source, 0
                graph.edge_score[len(edges)] = graph.score[source] + quarters / 4
                edges.append((source, node))
                added.append(quarters / 4)
            graph.score[node] = graph.score[ways[0][0]] + ways[0][1] / 4
            graph.edge_first[node + 1] = len(edges)
    return graph, n_words, edges, added


@given(graphs(), st.sampled_from([0, 0.25, 1, 2.5, math.inf]))
def test_what_lies_within_the_beam(problem, beam):
    graph, n_words, edges, added = problem
    found = connected(graph, n_words, beam)
    kept, onwards = within(edges, added, 0, int(graph.stack_first[n_words]), beam)
    assert found.edge.tolist() == kept
    assert dict(zip(found.node.tolist(), found.outside.tolist())) == onwards
    for node, outside, following in zip(found.node[:-1], found.outside, found.following):
        edge = found.edge[following]
        assert edges[edge][0] == node
        assert outside == added[edge] + onwards[edges[edge][1]]
    assert (found.outside[-1], found.following[-1]) == (0, -1)


@given(graphs(), st.integers(0, 30), st.lists(st.integers(0, 3), min_size=100, max_size=100))
def test_the_beam_of_so_many_words(problem, most, sizes):
    graph, n_words, edges, added = problem
    graph.edge_option[: len(edges)] = np.arange(len(edges))
    beam, final = beam_of_words(graph, n_words, np.array(sizes), most), int(graph.stack_first[n_words])

    def words_within(limit):
        return sum(sizes[i] for i in within(edges, added, 0, final, limit)[0])

    assert words_within(beam) <= most or beam == 0
    assert words_within(math.inf) <= most if beam == math.inf else words_within(beam + 2e-9) > most


def sentence(seed, longest):
    rng = random.Random(seed)
    return " ".join(rng.choices([*SOURCE, *SOURCE, "x", "s"], k=rng.randint(1, longest)))


def phrases_of(lattice, path):
    """A path in the words of its phrases: source spans and target texts."""
    return tuple((int(lattice.begin[edge]), int(lattice.end[edge]), lattice.target[edge]) for edge in path)


def all_paths(lattice):
    """{phrases: score} of all paths."""
    edges = list(zip(lattice.edge_from.tolist(), lattice.edge_to.tolist()))
    found = list(paths(edges, 0, lattice.covered.size - 1))
    scores = {phrases_of(lattice, path): float(lattice.edge_score[path].sum()) for path in found}
    assert len(scores) == len(found)
    return scores


def check(lattice, decoder, line):
    """What holds of every lattice."""
    best = decoder.translate(line)
    assert lattice.score == best.score == pytest.approx(lattice.inside[-1], abs=1e-9)
    path = lattice.best_path
    assert phrases_of(lattice, path) == tuple((*phrase.source_span, phrase.target) for phrase in best.phrases)
    assert lattice.edge_score[path].sum() == pytest.approx(best.score, abs=1e-9)
    assert lattice.outside[0] == pytest.approx(best.score, abs=1e-9)
    assert (lattice.covered[0], lattice.covered[-1]) == (0, len(line.split()))
    steps = lattice.covered[lattice.edge_to] - lattice.covered[lattice.edge_from]
    assert np.array_equal(steps, lattice.end - lattice.begin)
    assert np.all(np.diff(lattice.edge_to) >= 0)
    arrivals = lattice.inside[lattice.edge_from] + lattice.edge_score
    firsts = lattice.edge_first[1:-1]
    assert arrivals[firsts] == pytest.approx(lattice.inside[1:], abs=1e-9)
    assert np.all(arrivals <= lattice.inside[lattice.edge_to] + 1e-9)
    onwards = lattice.edge_score + lattice.outside[lattice.edge_to]
    assert onwards[lattice.following[:-1]] == pytest.approx(lattice.outside[:-1], abs=1e-9)
    assert np.array_equal(lattice.edge_from[lattice.following[:-1]], np.arange(lattice.covered.size - 1))


@given(st.integers(0, 14), SEEDS, st.integers(1, 6), st.sampled_from(["stack", "cube"]))
@settings(max_examples=40)
def test_paths_are_the_derivations_of_the_search(toys, toy, seed, stack, algorithm):
    line = sentence(seed, longest=5)
    decoder = Decoder.load(toys[toy], SearchSettings(stack=stack, beam_threshold=0, algorithm=algorithm))
    expected = {
        tuple((*phrase.source_span, phrase.target) for phrase in translation.phrases): translation.score
        for translation in decoder.nbest(line, ALL)
    }
    lattice = decoder.lattice(line)
    check(lattice, decoder, line)
    assert all_paths(lattice) == pytest.approx(expected, abs=1e-6)
    for beam in (0.0, 0.7):
        part = decoder.lattice(line, beam)
        check(part, decoder, line)
        scores = all_paths(part)
        assert expected == pytest.approx(expected | scores, abs=1e-6)
        assert {path for path, score in expected.items() if score > lattice.score - beam + 1e-6} <= set(scores)
        through = part.inside[part.edge_from] + part.edge_score + part.outside[part.edge_to]
        assert np.all(through >= lattice.score - beam - 1e-6)


def test_an_empty_line_has_one_node(toys):
    decoder = Decoder.load(toys[1])
    lattice = decoder.lattice("")
    assert (lattice.covered.tolist(), lattice.best_path, lattice.target, lattice.source) == ([0], [], [], ())
    assert lattice.score == decoder.translate("").score


@pytest.mark.parametrize("beam", [-1.0, math.nan])
def test_refuses_beams_below_the_best(toys, beam):
    with pytest.raises(ConfigError, match=f"the beam of the lattice is {beam}, expected at least 0"):
        Decoder.load(toys[0]).lattice("a", beam)
