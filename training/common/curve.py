"""How training went, iteration by iteration: a table, and a picture where matplotlib is installed."""

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.base.figures import INSTALL, can_draw, write_figure
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import log


class Panel(NamedTuple):
    """One of the plots of a picture, which stand one below the other."""

    ylabel: str
    lines: Mapping[str, Mapping[int, float]]  # values by iteration, by name; "" for a line without one
    title: str = ""


def write_curve(directory: Path, rows: Sequence[Mapping[str, object]], panels: Sequence[Panel]) -> None:
    """Write curve.csv, of one row or more with the same columns, and curve.png if matplotlib is there."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_file(directory / "curve.csv") as file:
        file.write(text.getvalue().encode("utf-8"))
    if can_draw():
        write_figure(directory / "curve.png", 8, 7, lambda figure: _draw(figure, panels))
    else:
        _say_not_drawn()


def _draw(figure: Any, panels: Sequence[Panel]) -> None:
    plots = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(plots, panels, strict=True):
        for name, line in panel.lines.items():
            axes.plot(list(line), list(line.values()), marker=".", label=name)
        axes.set(ylabel=panel.ylabel, title=panel.title)
        if any(panel.lines):
            axes.legend()
    plots[-1].set(xlabel="iteration")


@cache
def _say_not_drawn() -> None:
    """Once, since curves are written again and again."""
    log.info(f"curve.png: not drawn, matplotlib is not installed ({INSTALL})")
