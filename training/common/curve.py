"""Training curves: a table of all iterations, and a figure if matplotlib is installed."""

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.base.figures import GREY, INSTALL, can_draw, write_figure
from phrasebeam.base.files import atomic_file
from phrasebeam.base.progress import log
from phrasebeam.training.metrics.definitions import METRICS, MetricName

Rows = Sequence[Mapping[str, Any]]  # one per iteration, all with the same columns, including "iteration"; None: empty
MOST_NAMED = 8  # with more runs, the figure has no legend


class Panel(NamedTuple):
    """One of the plots of a figure; the plots are below each other."""

    label: str  # of the axis
    lines: Mapping[str, str]  # labels of the lines, by column of the table
    factor: float = 1.0  # the numbers of the table are multiplied by it


def score_panels(metric: MetricName, lines: Mapping[str, str], is_reported: bool = False) -> list[Panel]:
    """A panel of scores, and a panel of chrF++ below it if the metric is another one.

    Error rates are shown as positive numbers. Trainers store them as negative ones, unless `is_reported`.
    """
    factor = 1.0 if is_reported or METRICS[metric].scale > 0 else -1.0
    beside = [] if metric == "chrf++" else [Panel(METRICS["chrf++"].title, {"chrfpp": "development set"})]
    return [Panel(METRICS[metric].title, lines, factor), *beside]


def write_curve(
    directory: Path,
    rows: Rows,
    title: str,
    panels: Sequence[Panel],
    best: Mapping[Any, int],
    is_drawn: bool = True,
) -> None:
    """Write curve.csv and, if matplotlib is there and `is_drawn`, curve.png; iteration `best` of each run is marked.

    If there is a column "run", each panel has one line per run, of its first column. Otherwise there is only one run,
    and its name in `best` is None.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_as_known(row, panels) for row in rows)
    with atomic_file(directory / "curve.csv") as file:
        file.write(text.getvalue().encode("utf-8"))
    if not is_drawn:
        return
    if can_draw():
        draw = partial(_draw, rows=rows, title=title, panels=panels, best=best)
        write_figure(directory / "curve.png", 9, 1 + 4 * len(panels), draw)
    else:
        _say_not_drawn()


def is_drawn_to_the_end(directory: Path) -> bool:
    """Whether curve.csv and curve.png exist, and the picture is not older than the table."""
    table, picture = directory / "curve.csv", directory / "curve.png"
    return table.exists() and picture.exists() and picture.stat().st_mtime_ns >= table.stat().st_mtime_ns


def _as_known(row: Mapping[str, Any], panels: Sequence[Panel]) -> dict[str, Any]:
    """The row with positive error rates."""
    negative = {column for panel in panels if panel.factor < 0 for column in panel.lines}
    return {name: -value if name in negative and value is not None else value for name, value in row.items()}


def _draw(figure: Any, rows: Rows, title: str, panels: Sequence[Panel], best: Mapping[Any, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    all_axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(all_axes, panels, strict=True):
        for run in best:
            _draw_run(axes, panel, [row for row in rows if row.get("run") == run], run)
        if None in best:
            axes.axvline(best[None], color=GREY, linestyle=":", zorder=0)
        axes.set(ylabel=panel.label)
        axes.margins(y=0.12)
    _draw_stars(all_axes[0], panels[0], rows, best)
    if len(best) <= MOST_NAMED:
        all_axes[0].legend()
    all_axes[0].set(title=title)
    all_axes[-1].set(xlabel="iteration")
    all_axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _draw_run(axes: Any, panel: Panel, rows: Rows, run: str | None) -> None:
    lines = list(panel.lines.items())[: 1 if run else None]
    for (column, name), marker in zip(lines, "os^D"):
        drawn = [row for row in rows if row[column] is not None]
        values = [panel.factor * row[column] for row in drawn]
        axes.plot([row["iteration"] for row in drawn], values, marker=marker, label=run or name)


def _draw_stars(axes: Any, panel: Panel, rows: Rows, best: Mapping[Any, int]) -> None:
    """Mark the best iteration of each run in the first line of the panel."""
    column = next(iter(panel.lines))
    marked = [row for row in rows if best[row.get("run")] == row["iteration"]]
    values = [panel.factor * row[column] for row in marked]
    label = f"best: iteration {marked[0]['iteration']}, {values[0]:.2f}" if None in best else "best of each run"
    numbers = [row["iteration"] for row in marked]
    axes.plot(numbers, values, "*", markersize=20, color="white", markeredgecolor="black", label=label)


@cache
def _say_not_drawn() -> None:
    log.info(f"curve.png: not drawn, matplotlib is not installed ({INSTALL})")
