"""Drawings of what pages explain, by matplotlib: a lattice of words, the links of a sentence pair."""

from pathlib import Path
from typing import Any

from phrasebeam.base.figures import GREY, LIGHT_GREY, PALETTE, write_figure

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
# The example of the page on lattices: of each node word, probability, and nodes onwards of the arcs that leave it
LATTICE = [("das", 1.0, 1)], [("gartenhaus", 0.6, 2), ("garten", 0.4, 1)], [("haus", 1.0, 1)]
SENTENCES = "gestern hat er das buch gelesen .", "yesterday he read the book ."
POINTS = "0-0 1-2 2-1 3-3 4-4 5-2 6-5"
PHRASES = (  # source and target words of some pairs that are consistent with the links
    (range(1), range(1)),
    (range(1, 6), range(1, 5)),
    (range(2, 3), range(1, 2)),
    (range(3, 5), range(3, 5)),
)


def draw_all() -> None:
    """Write all drawings."""
    write_figure(FOLDER / "lattice.png", 9, 3, _lattice)
    write_figure(FOLDER / "alignment.png", 7, 6, _alignment)


def _lattice(figure: Any) -> None:
    """Nodes in a row; an arc is the higher, the more nodes it leads over."""
    axes = figure.subplots()
    axes.axis("off")
    arcs = [(begin, word, p, begin + onwards) for begin, all in enumerate(LATTICE) for word, p, onwards in all]
    for begin, word, probability, end in arcs:
        bend = -0.45 * (end - begin - 1)
        arrow = {"arrowstyle": "-|>", "color": PALETTE[0], "lw": 2, "shrinkA": 16, "shrinkB": 16}
        arrow["connectionstyle"] = f"arc3,rad={bend}"
        axes.annotate("", (end, 0), (begin, 0), arrowprops=arrow)
        height = -bend * (end - begin) / 2 + 0.06
        axes.text((begin + end) / 2, height, f"{word}  {probability:g}", ha="center", va="bottom")
    nodes = range(max(end for *_, end in arcs) + 1)
    axes.scatter(nodes, [0] * len(nodes), s=700, color="white", edgecolors=GREY, zorder=3)
    for node in nodes:
        axes.text(node, 0, str(node), ha="center", va="center", zorder=4)
    axes.set_ylim(-0.3, 0.9)
    axes.set_xlim(-0.3, len(nodes) - 0.7)


def _alignment(figure: Any) -> None:
    """Links as squares of a matrix; a frame around each phrase pair that is consistent with them."""
    from matplotlib.patches import Rectangle

    axes = figure.subplots()
    source, target = (text.split() for text in SENTENCES)
    for point in POINTS.split():
        i, j = map(int, point.split("-"))
        axes.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, color=PALETTE[0], alpha=0.8))
    for of_source, of_target in PHRASES:
        place = of_source.start - 0.5, of_target.start - 0.5
        axes.add_patch(Rectangle(place, len(of_source), len(of_target), fill=False, edgecolor=PALETTE[1], lw=3))
    axes.set_xticks(range(len(source)), source, rotation=30)
    axes.set_yticks(range(len(target)), target)
    axes.set_xticks([i - 0.5 for i in range(len(source) + 1)], minor=True)
    axes.set_yticks([j - 0.5 for j in range(len(target) + 1)], minor=True)
    axes.grid(False)
    axes.grid(which="minor", color=LIGHT_GREY)
    axes.tick_params(which="both", length=0)
    axes.set_xlim(-0.5, len(source) - 0.5)
    axes.set_ylim(len(target) - 0.5, -0.5)
    axes.xaxis.tick_top()
