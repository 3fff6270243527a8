"""Lattices as text, read again as those read them who know only the formats."""

import re

import pytest

from phrasebeam.decoder.output.lattice_rendering import render_dot, render_lattice, render_search_graph
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.naive.lattice import paths

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

LINES = ["a b c x", "", "b d a a", 'say" \\"a\\ &amp; \\', "a\0b <b> | {x}"]
HYPOTHESIS = re.compile(
    r"7 hyp=(?P<hyp>\d+) stack=(?P<stack>\d+) back=(?P<back>\d+) score=(?P<score>-?\d+\.\d+)"
    r" transition=(?P<transition>-?\d+\.\d+)(?: recombined=(?P<recombined>\d+))?"
    r" forward=(?P<forward>-?\d+) fscore=(?P<fscore>-?\d+\.\d+) covered=(?P<begin>\d+)-(?P<last>\d+) out=(?P<out>.+)"
)
# Graphviz' grammar, as much of it as is written: a quoted name may hold \" and, as a label, \n and \\ and &amp;.
QUOTED = r'"((?:[^"\\&\0]|\\["n\\]|&amp;)*)"'
MARKS = r'( color="red" penwidth=2)?'
HEAD = re.compile(rf'digraph "(\d+)" \{{\n  graph \[label={QUOTED} rankdir=LR\];\n  node \[shape=box\];')
NODE = re.compile(rf"  (\d+) \[label={QUOTED}{MARKS}\];")
EDGE = re.compile(rf"  (\d+) -> (\d+) \[label={QUOTED}{MARKS}\];")


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


@pytest.mark.parametrize("line", LINES)
def test_graphs_for_graphviz(decoder, line):
    lattice = decoder.lattice(line, 1.0)
    text = render_dot(3, lattice)
    head, rest = text[: text.index("shape=box];") + 11], text[text.index("shape=box];") + 12 :].split("\n")
    number, title = HEAD.fullmatch(head).groups()
    assert (number, unescaped(title)) == ("3", line.replace("\0", "\u2400"))
    n_nodes = lattice.covered.size
    nodes = [NODE.fullmatch(row).groups() for row in rest[:n_nodes]]
    edges = [EDGE.fullmatch(row).groups() for row in rest[n_nodes:-2]]
    assert rest[-2:] == ["}", ""]
    assert [int(name) for name, _, _ in nodes] == list(range(n_nodes))
    assert [int(label.split("\\n")[0]) for _, label, _ in nodes] == lattice.covered.tolist()
    assert [(int(source), int(node)) for source, node, _, _ in edges] == list(
        zip(lattice.edge_from.tolist(), lattice.edge_to.tolist())
    )
    for edge, (_, _, label, _) in enumerate(edges):
        target, source, score = unescaped(label).split("\n")
        assert target == lattice.target[edge].replace("\0", "\u2400")
        assert source == " ".join(line.split()[lattice.begin[edge] : lattice.end[edge]]).replace("\0", "\u2400")
        assert float(score) == pytest.approx(lattice.edge_score[edge], abs=1e-3)
    assert [edge for edge, (_, _, _, marks) in enumerate(edges) if marks] == sorted(lattice.best_path)
    marked = {int(name) for name, _, marks in nodes if marks}
    assert marked == {0} | {int(node) for _, node, _, marks in edges if marks}


def unescaped(label):
    """What Graphviz shows for a label."""
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], label).replace("&amp;", "&")


def test_formats(decoder):
    lattice = decoder.lattice("a b")
    assert render_lattice(1, lattice, "osg") == render_search_graph(1, lattice)
    assert render_lattice(1, lattice, "dot") == render_dot(1, lattice)
    assert render_lattice(1, None, "dot") == ""
