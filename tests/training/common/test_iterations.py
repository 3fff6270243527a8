"""Iterations of a training: the best, the end, the curve, tables, and checkpoints that are of one training only."""

import csv

import numpy as np
import pytest

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.console.tables import text_table
from phrasebeam.training.common.checkpoint import begin, load_checkpoint, save_checkpoint
from phrasebeam.training.common.curve import write_curve
from phrasebeam.training.common.iterations import Progress, iteration_table


class Iteration(Section):
    """The smallest one."""

    score: float | None = None


class ToyProgress(Progress[Iteration]):
    """Of a toy."""

    step: int = 0


def progress_of(*scores):
    progress = ToyProgress(signature="mine")
    for score in scores:
        progress = progress.with_iteration(Iteration(score=score), step=len(progress.iterations))
    return progress


@pytest.mark.parametrize(
    ("scores", "best", "patience"),
    [((3.0,), 0, 0), ((1.0, 2.0, 2.0), 1, 1), ((-5.0, None, -4.0), 2, 0), ((2.0, None, 1.0, 2.0), 0, 3)],
)
def test_the_best_is_the_first_of_the_best(scores, best, patience):
    progress = progress_of(*scores)
    assert (progress.best, progress.best_score, progress.step) == (best, scores[best], len(scores) - 1)
    assert progress.has_stopped(patience)
    assert not progress.has_stopped(patience + 1)


def test_tables_have_columns_and_mark_the_best():
    assert text_table([["a", "long", "c"], ["wide", "b"]]) == "a     long  c\nwide  b"
    table = iteration_table(["score"], {0: ["1.00"], 10: ["2.00"]}, 10)
    assert text_table(table) == "iteration  score\n0          1.00\n10*        2.00"


def test_the_curve_has_a_row_for_each_iteration(tmp_path):
    rows = [{"run": name} | row for name in ("one", "other") for row in progress_of(1.0, None).rows(first=1)]
    write_curve(tmp_path, rows, "a title", {"score": "score"})
    with open(tmp_path / "curve.csv") as file:
        found = [list(row.values()) for row in csv.DictReader(file)]
    assert found == [[name, number, score] for name in ("one", "other") for number, score in (("1", "1.0"), ("2", ""))]


def test_checkpoints_are_of_one_training(tmp_path):
    progress, path = progress_of(1.0, 2.0), tmp_path / "checkpoint.npz"
    save_checkpoint(path, progress, {"weights": np.arange(3.0)})
    found, arrays = load_checkpoint(path, ToyProgress, "mine")
    assert (found, list(arrays), arrays["weights"].tolist()) == (progress, ["weights"], [0.0, 1.0, 2.0])
    with pytest.raises(ConfigError, match="made with 'mine', expected other; choose another directory"):
        load_checkpoint(path, ToyProgress, "other")


def test_work_goes_on_where_there_is_some(tmp_path):
    path = tmp_path / "work" / "progress.yaml"
    assert begin(path, progress_of()) == progress_of()
    other = ToyProgress(signature="other")
    assert begin(path, other) == other  # nothing was done yet
    (path.parent / "weights").touch()
    assert begin(path, other.model_copy(update={"step": 5})) == other
    with pytest.raises(ConfigError, match="made with 'other', expected mine"):
        begin(path, progress_of())
