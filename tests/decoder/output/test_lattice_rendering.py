"""Lattices as text, read again as those read them who know only the formats."""

import re

import numpy as np
import pytest

from phrasebeam.decoder.output import lattice_rendering
from phrasebeam.decoder.output.lattice import NONE, Lattice
from phrasebeam.decoder.output.lattice_rendering import render_dot, render_lattice, render_search_graph
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.naive.lattice import paths

pytestmark = pytest.mark.kernels

LINES = ["a b c x", "", "b d a a", 'say" \\"a\\ &amp; \\', "a\0b <b> | {x}"]
HYPOTHESIS = re.compile(
    r"7 hyp=(?P<hyp>\d+) stack=(?P<stack>\d+) back=(?P<back>\d+) score=(?P<score>-?\d+\.\d+)"
    r" transition=(?P<transition>-?\d+\.\d+)(?: recombined=(?P<recombined>\d+))?"
    r" forward=(?P<forward>-?\d+) fscore=(?P<fscore>-?\d+\.\d+) covered=(?P<begin>\d+)-(?P<last>\d+) out=(?P<out>.+)"
)
# Graphviz' grammar, as much of it as is written: a quoted name may hold \" and, as a label, \n and \\ and &amp;.
QUOTED = r'"((?:[^"\\&\0]|\\["n\\]|&amp;)*)"'
MARKS = r'( color="#D55E00" fontcolor="#A04000" penwidth=3)?'
TITLE = re.compile(rf"  graph \[label={QUOTED} labelloc=t rankdir=LR [^\]]*\];")
NODE = re.compile(rf"  (\d+) \[label={QUOTED}{MARKS}\];")
EDGE = re.compile(rf"  (\d+) -> (\d+) \[label={QUOTED}{MARKS}(?: weight=10)?\];")


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return Decoder.load(random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory, SearchSettings(stack=6))


@pytest.mark.parametrize("line", LINES)
def test_search_graphs_hold_all_derivations(decoder, line):
    lattice = decoder.lattice(line)
    start, *rest = render_search_graph(7, lattice).splitlines()
    assert start == "7 hyp=0 stack=0"
    hypotheses = [HYPOTHESIS.fullmatch(hypothesis).groupdict() for hypothesis in rest]
    assert [int(h["hyp"]) for h in hypotheses] == list(range(1, len(rest) + 1))
    if not line:
        assert rest == []
        return
    # A hypothesis stands for its own node, or if it lost against another for that one's.
    nodes = [int(h["recombined"] or h["hyp"]) for h in hypotheses]
    edges = [(int(h["back"]), node) for h, node in zip(hypotheses, nodes)]
    best = {int(h["hyp"]): h for h in hypotheses if not h["recombined"]}
    final = {node for h, node in zip(hypotheses, nodes) if h["forward"] == "-1"}
    assert len(final) == 1
    found = {}
    for path in paths(edges, 0, *final):
        chosen = [hypotheses[i] for i in path]
        key = tuple((int(h["begin"]), int(h["last"]) + 1, h["out"]) for h in chosen)
        found[key] = sum(float(h["transition"]) for h in chosen)
    expected = {
        tuple((*phrase.source_span, phrase.target) for phrase in translation.phrases): translation.score
        for translation in decoder.nbest(line, 10**5)
    }
    assert found == pytest.approx(expected, abs=1e-4)
    for h, node in zip(hypotheses, nodes):
        before = float(best[int(h["back"])]["score"]) if h["back"] != "0" else 0.0
        assert float(h["score"]) == pytest.approx(before + float(h["transition"]), abs=1e-5)
        assert float(h["score"]) <= float(best[node]["score"])
        assert int(h["stack"]) == int(best[node]["stack"])
        if h["forward"] == "-1":
            assert (float(h["fscore"]), int(h["stack"])) == (0, len(line.split()))
            continue
        onwards = hypotheses[int(h["forward"]) - 1]
        assert int(onwards["back"]) == node
        assert float(h["fscore"]) == pytest.approx(float(onwards["transition"]) + float(onwards["fscore"]), abs=1e-5)


def read_dot(text):
    """Title, {node: (label, is best)}, {(node, node): (phrases, is best)}; a phrase is target, score, source."""
    first, title, _, _, *rows, last, end = text.split("\n")
    assert (first, last, end) == ('digraph "3" {', "}", "")
    nodes, arcs = {}, {}
    for row in rows:
        if "->" in row:
            source, node, label, marks = EDGE.fullmatch(row).groups()
            lines = unescaped(label).split("\n")
            phrases = [(*shown.rsplit("  ", 1), words[1:-1]) for shown, words in zip(lines[::2], lines[1::2])]
            arcs[int(source), int(node)] = phrases, bool(marks)
        else:
            name, label, marks = NODE.fullmatch(row).groups()
            nodes[int(name)] = unescaped(label), bool(marks)
    return unescaped(TITLE.fullmatch(title)[1]), nodes, arcs


@pytest.mark.parametrize("line", LINES)
def test_graphs_for_graphviz(decoder, line):
    lattice = decoder.lattice(line, 1.0)
    title, nodes, arcs = read_dot(render_dot(3, lattice))
    assert title == line.replace("\0", "\u2400")
    n_words = len(line.split())
    labels = [f"{n} of {n_words}\n{score:.2f}" for n, score in zip(lattice.covered, lattice.inside)]
    assert {node: label for node, (label, _) in nodes.items()} == dict(enumerate(labels))
    shown = [(*ends, *phrase) for ends, (phrases, _) in arcs.items() for phrase in phrases]
    edges = zip(lattice.edge_from, lattice.edge_to, lattice.target, lattice.edge_score, lattice.begin, lattice.end)
    words = [word.replace("\0", "\u2400") for word in line.split()]
    assert sorted(shown) == sorted(
        (source, node, target.replace("\0", "\u2400"), f"{score:.2f}", " ".join(words[begin:end]))
        for source, node, target, score, begin, end in edges
    )
    best = {(int(lattice.edge_from[edge]), int(lattice.edge_to[edge])) for edge in lattice.best_path}
    assert {ends for ends, (_, is_best) in arcs.items() if is_best} == best
    assert {node for node, (_, is_best) in nodes.items() if is_best} == {0, *(node for ends in best for node in ends)}


def test_of_large_lattices_the_best_is_shown(decoder, monkeypatch):
    lattice = decoder.lattice(LINES[0])
    whole = read_dot(render_dot(3, lattice))[2]
    sizes = []
    for most in (1, 5, 20):
        monkeypatch.setattr(lattice_rendering, "MOST_EDGES", most)
        title, nodes, arcs = read_dot(render_dot(3, lattice))
        n_phrases = sum(len(phrases) for phrases, _ in arcs.values())
        assert title == f"{LINES[0]}\n({n_phrases} of {lattice.edge_from.size} phrases)"
        assert arcs.keys() <= whole.keys()
        starts, ends = zip(*arcs)
        last = lattice.covered.size - 1
        assert set(nodes) == {*starts, *ends} and set(nodes) - set(starts) == {last} and set(nodes) - set(ends) == {0}
        sizes.append(n_phrases)
    assert sizes[0] == len(lattice.best_path) <= sizes[1] < sizes[2] <= 20


def test_parallel_phrases_share_an_arc():
    scores = -np.arange(1.0, 6.0)
    zeros, ones = np.zeros(5, np.int32), np.ones(5, np.int32)
    ends = np.array([0.0, -1.0]), np.array([-1.0, 0.0]), np.array([0, NONE])
    covered, target = np.array([0, 1], np.int32), [*"vwxy", ""]
    lattice = Lattice(
        ("a",), -1.0, covered, *ends, np.array([0, 0, 5]), zeros, ones, scores, zeros, ones, zeros, ["a"] * 5, target
    )
    text = render_dot(3, lattice)
    assert text.count("->") == 1
    assert r'0 -> 1 [label="v  -1.00\n[a]\nw  -2.00\n[a]\nx  -3.00\n[a]\nand 2 more" color="#D55E00"' in text


def unescaped(label):
    """What Graphviz shows for a label."""
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], label).replace("&amp;", "&")


def test_formats(decoder):
    lattice = decoder.lattice("a b")
    assert render_lattice(1, lattice, "osg") == render_search_graph(1, lattice)
    assert render_lattice(1, lattice, "dot") == render_dot(1, lattice)
    assert render_lattice(1, None, "dot") == ""
