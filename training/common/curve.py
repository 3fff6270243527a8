"""Training curves: a table of all iterations, and a figure where matplotlib is installed."""

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from phrasebeam.base.figures import INSTALL, can_draw, write_figure
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import log

Rows = Sequence[Mapping[str, Any]]  # an iteration each, with the same columns, "iteration" among them; None is empty


def write_curve(directory: Path, rows: Rows, title: str, plots: Mapping[str, str]) -> None:
    """Write curve.csv, and curve.png if matplotlib is there: one plot below the other.

    `plots`: the columns that are drawn, and their labels. Where there is a column "run", each run is a
    line of its own.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_file(directory / "curve.csv") as file:
        file.write(text.getvalue().encode("utf-8"))
    if can_draw():
        write_figure(directory / "curve.png", 8, 7, lambda figure: _draw(figure, rows, title, plots))
    else:
        _say_not_drawn()


def _draw(figure: Any, rows: Rows, title: str, plots: Mapping[str, str]) -> None:
    all_axes = figure.subplots(len(plots), sharex=True, squeeze=False)[:, 0]
    for axes, (column, label) in zip(all_axes, plots.items(), strict=True):
        for run in dict.fromkeys(row.get("run") for row in rows):
            drawn = [row for row in rows if row.get("run") == run and row[column] is not None]
            axes.plot([row["iteration"] for row in drawn], [row[column] for row in drawn], marker=".", label=run)
        axes.set(ylabel=label)
    all_axes[0].set(title=title)
    all_axes[-1].set(xlabel="iteration")
    if "run" in rows[0]:
        all_axes[0].legend()


@cache
def _say_not_drawn() -> None:
    """Log that there is no figure, once for all curves."""
    log.info(f"curve.png: not drawn, matplotlib is not installed ({INSTALL})")
