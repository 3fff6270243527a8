"""Lattices as text: Moses' search graph, and Graphviz for people to look at."""

from typing import Literal

from phrasebeam.decoder.output.lattice import NONE, Lattice

LatticeFormat = Literal["osg", "dot"]

# HTML entities and backslashes mean something within labels; no name can hold a NUL.
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "\0": "\u2400"})
BEST = ' color="red" penwidth=2'


def render_lattice(number: int, lattice: Lattice | None, lattice_format: LatticeFormat) -> str:
    """The lattice of sentence `number` in that format; "" for none."""
    if lattice is None:
        return ""
    return render_search_graph(number, lattice) if lattice_format == "osg" else render_dot(number, lattice)


def render_search_graph(number: int, lattice: Lattice) -> str:
    """The lattice of sentence `number` as Moses writes it by -output-search-graph, a line for each hypothesis.

    A hypothesis is an edge, and a node has the number of its best one: `back` names the node that an edge comes from,
    `recombined` the best hypothesis of the node that a worse one led to, `forward` the best hypothesis that follows (-1
    at the end) and `fscore` the best score from there to the end. Spans include both ends. The hypothesis 0 is the
    start. Moses writes three decimals, and we six.
    """
    first = lattice.edge_first.tolist()
    names = [0, *(edge + 1 for edge in first[1:-1])]
    forward = [NONE if edge == NONE else edge + 1 for edge in lattice.following.tolist()]
    columns = zip(
        lattice.edge_from.tolist(),
        lattice.edge_to.tolist(),
        lattice.edge_score.tolist(),
        lattice.begin.tolist(),
        lattice.end.tolist(),
        lattice.target,
    )
    inside, outside, covered = lattice.inside.tolist(), lattice.outside.tolist(), lattice.covered.tolist()
    lines = [f"{number} hyp=0 stack=0\n"]
    for edge, (source, node, score, begin, end, target) in enumerate(columns):
        recombined = f" recombined={names[node]}" if edge != first[node] else ""
        lines.append(
            f"{number} hyp={edge + 1} stack={covered[node]} back={names[source]} score={inside[source] + score:.6f}"
            f" transition={score:.6f}{recombined} forward={forward[node]} fscore={outside[node]:.6f}"
            f" covered={begin}-{end - 1} out={target}\n"
        )
    return "".join(lines)


def render_dot(number: int, lattice: Lattice) -> str:
    """The lattice of sentence `number` as a directed graph for Graphviz, the best derivation in red.

    A node shows how many words are covered and the best score up to it; an edge the target phrase, the source words
    that it translates, and what it adds to the score.
    """
    path = set(lattice.best_path)
    best_nodes = {0, *lattice.edge_to[list(path)].tolist()}
    title = " ".join(lattice.source).translate(ESCAPES)
    lines = [f'digraph "{number}" {{\n  graph [label="{title}" rankdir=LR];\n  node [shape=box];\n']
    for node, (covered, score) in enumerate(zip(lattice.covered.tolist(), lattice.inside.tolist())):
        marks = BEST if node in best_nodes else ""
        lines.append(f'  {node} [label="{covered}\\n{score:.3f}"{marks}];\n')
    ends = zip(lattice.edge_from.tolist(), lattice.edge_to.tolist())
    for edge, ((source, node), score) in enumerate(zip(ends, lattice.edge_score.tolist())):
        phrase = f"{lattice.target[edge]}\n{lattice.phrase[edge]}".translate(ESCAPES)
        marks = BEST if edge in path else ""
        label = phrase.replace("\n", "\\n")
        lines.append(f'  {source} -> {node} [label="{label}\\n{score:.3f}"{marks}];\n')
    return "".join(lines) + "}\n"
