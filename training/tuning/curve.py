"""How the score went from iteration to iteration: a table, and a picture where matplotlib is installed."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from lm.files import atomic_file
from lm.progress import log
from training.metrics import Metric
from training.tuning.run_state import Iteration, RunState

COLUMNS = (*Iteration.model_fields,)
SCORES = ("score", "list_score")


def write_curves(directory: Path, runs: Mapping[str, RunState], metric: Metric) -> None:
    """Write curve.csv, and curve.png if matplotlib is there, of runs by name."""
    with atomic_file(directory / "curve.csv") as file:
        file.write(_table(runs, metric).encode("utf-8"))
    try:
        import matplotlib
    except ImportError:
        log.info("curve.png: not drawn, matplotlib is not installed (pip install 'phrasebeam[plots]')")
        return
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot(
        xlabel="iteration", ylabel=metric.name, title="score of the weights before each iteration"
    )
    for name, state in runs.items():
        numbers = range(1, len(state.iterations) + 1)
        axes.plot(numbers, [metric.shown(iteration.score) for iteration in state.iterations], marker=".", label=name)
    axes.legend()
    with atomic_file(directory / "curve.png") as file:
        figure.savefig(file, format="png", dpi=100)


def _table(runs: Mapping[str, RunState], metric: Metric) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "iteration", *COLUMNS])
    for name, state in runs.items():
        for number, iteration in enumerate(state.iterations, 1):
            values = iteration.model_dump()
            shown = [metric.shown(values[c]) if c in SCORES and values[c] is not None else values[c] for c in COLUMNS]
            writer.writerow([name, number, *("" if value is None else value for value in shown)])
    return text.getvalue()
