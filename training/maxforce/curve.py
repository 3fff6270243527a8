"""How learning went, iteration by iteration: a table, and a picture where matplotlib is installed."""

import csv
import io
from pathlib import Path

from lm.files import atomic_file
from lm.progress import log
from training.maxforce.state import Epoch, Progress

COLUMNS = (*Epoch.model_fields, "invalid_ratio")


def write_curve(directory: Path, progress: Progress) -> None:
    """Write curve.csv, and curve.png if matplotlib is there: score, and ratio of invalid updates (Figures 8 and 9)."""
    with atomic_file(directory / "curve.csv") as file:
        file.write(_table(progress).encode("utf-8"))
    try:
        import matplotlib
    except ImportError:
        log.info("curve.png: not drawn, matplotlib is not installed (pip install 'phrasebeam[plots]')")
        return
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 7), layout="constrained")
    scores, ratios = figure.subplots(2, sharex=True)
    numbers = range(len(progress.epochs))
    scores.plot(numbers, [epoch.score for epoch in progress.epochs], marker=".")
    scores.set(ylabel="score of the development set", title="averaged weights after each iteration")
    ratios.plot(numbers[1:], [100 * epoch.invalid_ratio for epoch in progress.epochs[1:]], marker=".")
    ratios.set(xlabel="iteration", ylabel="invalid updates, %")
    with atomic_file(directory / "curve.png") as file:
        figure.savefig(file, format="png", dpi=100)


def _table(progress: Progress) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["iteration", *COLUMNS])
    for number, epoch in enumerate(progress.epochs):
        writer.writerow([number, *(getattr(epoch, column) for column in COLUMNS)])
    return text.getvalue()
