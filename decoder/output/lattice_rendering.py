"""Lattices as text: Moses' search graph, and Graphviz for human readers."""

from collections import defaultdict
from typing import Literal

import numpy as np

from phrasebeam.decoder.output.lattice import NONE, Lattice

LatticeFormat = Literal["osg", "dot"]

# HTML entities and backslashes have a meaning in labels; names cannot contain NUL.
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "\0": "\u2400"})
BEST = ' color="#D55E00" fontcolor="#A04000" penwidth=3'  # vermilion: not taken for black or grey by any eye
LOOK = (
    "  graph [label={title} labelloc=t rankdir=LR ranksep=0.6 fontname=Helvetica fontsize=18];\n"
    '  node [shape=box style=rounded color="#666666" fontname=Helvetica];\n'
    '  edge [color="#666666" fontname=Helvetica];\n'
)
# Limits for readability: the edges on the best derivations, and the best phrases between the same two nodes.
MOST_EDGES, MOST_PHRASES = 100, 3


def render_lattice(number: int, lattice: Lattice | None, lattice_format: LatticeFormat) -> str:
    """The lattice of sentence `number` in the given format; "" for None."""
    if lattice is None:
        return ""
    return render_search_graph(number, lattice) if lattice_format == "osg" else render_dot(number, lattice)


def render_search_graph(number: int, lattice: Lattice) -> str:
    """The lattice of sentence `number` as Moses' -output-search-graph writes it, one line for each hypothesis.

    A hypothesis is an edge, and a node has the number of its best hypothesis: `back` is the node that an edge comes
    from, `recombined` the best hypothesis of the node to which a worse hypothesis led, `forward` the best hypothesis
    that follows (-1 at the end), and `fscore` the best score from there to the end. Spans include both ends. Hypothesis
    0 is the start. Moses writes three decimals, we write six.
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
    """The lattice of sentence `number` as a directed graph for Graphviz, from left to right, the best derivation bold.

    A node shows how many words are covered and the best score up to it. An arc shows, for each phrase, the target words
    with their contribution to the score, and the source words below. Phrases between the same two nodes share an arc,
    the best one first. Of a large lattice, only the MOST_EDGES edges on the best derivations are shown.
    """
    edges, path = _readable_edges(lattice), set(lattice.best_path)
    source, node = lattice.edge_from.tolist(), lattice.edge_to.tolist()
    arcs = defaultdict[tuple[int, int], list[int]](list)
    for edge in edges:
        arcs[source[edge], node[edge]].append(edge)
    best_nodes = {0, *(node[edge] for edge in path)}
    title = " ".join(lattice.source)
    if len(edges) < len(source):
        title += f"\n({len(edges)} of {len(source)} phrases)"
    lines = [f'digraph "{number}" {{\n', LOOK.format(title=_quoted(title))]
    for i in sorted({0, *(end for ends in arcs for end in ends)}):
        label = f"{lattice.covered[i]} of {len(lattice.source)}\n{lattice.inside[i]:.2f}"
        lines.append(f"  {i} [label={_quoted(label)}{BEST if i in best_nodes else ''}];\n")
    for (begin, end), phrases in arcs.items():
        marks = f"{BEST} weight=10" if not path.isdisjoint(phrases) else ""
        lines.append(f"  {begin} -> {end} [label={_quoted(_arc_label(lattice, phrases))}{marks}];\n")
    return "".join(lines) + "}\n"


def _readable_edges(lattice: Lattice) -> list[int]:
    """The edges on the best derivations: at most MOST_EDGES, ties left out together, or the best path alone."""
    best = lattice.inside[lattice.edge_from] + lattice.edge_score + lattice.outside[lattice.edge_to]
    if best.size <= MOST_EDGES:
        return list(range(best.size))
    losses = np.round(lattice.inside[-1] - best, 9)  # equal for all edges of a derivation
    limit = np.partition(losses, MOST_EDGES)[MOST_EDGES]
    return sorted({*np.flatnonzero(losses < limit).tolist(), *lattice.best_path})


def _arc_label(lattice: Lattice, phrases: list[int]) -> str:
    lines = []
    for edge in phrases[:MOST_PHRASES]:
        words = lattice.phrase[edge]
        lines += [f"{lattice.target[edge] or '(nothing)'}  {lattice.edge_score[edge]:.2f}", f"[{words}]"]
    if len(phrases) > MOST_PHRASES:
        lines.append(f"and {len(phrases) - MOST_PHRASES} more")
    return "\n".join(lines)


def _quoted(label: str) -> str:
    escaped = label.translate(ESCAPES).replace("\n", "\\n")
    return f'"{escaped}"'
