"""How learning went, iteration by iteration: a table, and a picture where matplotlib is installed."""

from pathlib import Path
from typing import Any

from phrasebeam.training.common.curve import write_table_and_picture
from phrasebeam.training.maxforce.state import Epoch, MaxforceProgress

COLUMNS = (*Epoch.model_fields, "invalid_ratio")


def write_curve(directory: Path, progress: MaxforceProgress) -> None:
    """Write curve.csv, and curve.png if matplotlib is there: score, and ratio of invalid updates (Figures 8 and 9)."""

    def draw(figure: Any) -> None:
        scores, ratios = figure.subplots(2, sharex=True)
        numbers = range(len(progress.epochs))
        scores.plot(numbers, [epoch.score for epoch in progress.epochs], marker=".")
        scores.set(ylabel="score of the development set", title="averaged weights after each iteration")
        ratios.plot(numbers[1:], [100 * epoch.invalid_ratio for epoch in progress.epochs[1:]], marker=".")
        ratios.set(xlabel="iteration", ylabel="invalid updates, %")

    rows = [[number, *(getattr(epoch, c) for c in COLUMNS)] for number, epoch in enumerate(progress.epochs)]
    write_table_and_picture(directory, ["iteration", *COLUMNS], rows, draw)
