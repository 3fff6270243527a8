"""The columns of scores in the tables of a recipe. On the terminal: the deciding metric, BLEU and chrF++."""

from collections.abc import Sequence

from phrasebeam.training.metrics.definitions import METRICS, MetricName
from phrasebeam.training.recipe.stage import REPORTED, SetScores


def shown_metrics(metric: MetricName) -> list[str]:
    """The metrics of short tables, for a recipe that decides by `metric`."""
    return [*dict.fromkeys((metric, "bleu", "chrf++"))]


def reported_metrics(metric: MetricName) -> list[str]:
    """The metrics of a report, for a recipe that decides by `metric`."""
    return [*dict.fromkeys((metric, *REPORTED))]


def headings(metrics: Sequence[str], before: str = "") -> list[str]:
    """The names of metrics, each after `before`."""
    return [before + METRICS[one].title for one in metrics]


def score_cells(scores: SetScores | None, metrics: Sequence[str], has_intervals: bool = False) -> list[str]:
    """The scores of a set as text; "" for each metric if there is no set."""
    if scores is None:
        return [""] * len(metrics)
    cells = [f"{scores.scores[one]:.2f}" for one in metrics]
    return [f"{cell} ± {scores.intervals[one]:.2f}" for cell, one in zip(cells, metrics)] if has_intervals else cells
