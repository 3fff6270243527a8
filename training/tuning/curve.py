"""How the score went from iteration to iteration: a table, and a picture where matplotlib is installed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phrasebeam.training.common.curve import write_table_and_picture
from phrasebeam.training.metrics.metrics import Metric
from phrasebeam.training.tuning.run_state import RunState, TuningIteration

COLUMNS = (*TuningIteration.model_fields,)
SCORES = ("score", "list_score")


def write_curves(directory: Path, runs: Mapping[str, RunState], metric: Metric) -> None:
    """Write curve.csv, and curve.png if matplotlib is there, of runs by name."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot(
            xlabel="iteration", ylabel=metric.name, title="score of the weights before each iteration"
        )
        for name, state in runs.items():
            numbers = range(1, len(state.iterations) + 1)
            scores = [metric.reported(iteration.score) for iteration in state.iterations]
            axes.plot(numbers, scores, marker=".", label=name)
        axes.legend()

    write_table_and_picture(directory, ["run", "iteration", *COLUMNS], _rows(runs, metric), draw)


def _rows(runs: Mapping[str, RunState], metric: Metric) -> Iterator[list[object]]:
    for name, state in runs.items():
        for number, iteration in enumerate(state.iterations, 1):
            values = iteration.model_dump()
            reported = [
                metric.reported(values[c]) if c in SCORES and values[c] is not None else values[c] for c in COLUMNS
            ]
            yield [name, number, *("" if value is None else value for value in reported)]
