"""Iterations of a training: the best, the end, the curve, tables, and checkpoints that are of one training only."""

import csv
from zipfile import ZipFile

import numpy as np
import pytest
from matplotlib.figure import Figure

from phrasebeam.base.array_struct import array
from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.commands.trainers import print_iterations
from phrasebeam.console.tables import text_table
from phrasebeam.training.common import curve
from phrasebeam.training.common.checkpoint import begin, load_checkpoint, save_checkpoint
from phrasebeam.training.common.curve import Panel, score_panels, write_curve
from phrasebeam.training.common.iterations import Progress

WEIGHTS = {"weights": array(np.float64, "F")}


class Iteration(Section):
    """The smallest one."""

    score: float | None = None


class ToyProgress(Progress[Iteration]):
    """The iterations of a training that does nothing."""

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


def test_tables_have_columns_and_mark_the_best(capsys):
    assert text_table([["a", "long", "c"], ["wide", "b"]]) == "a     long  c\nwide  b"
    print_iterations(["score"], {0: ["1.00"], 1: ["2.00"]}, progress_of(1.0, 2.0))
    assert capsys.readouterr().out == "iteration  score\n0          1.00\n1*         2.00\n"


def test_the_curve_has_a_row_for_each_iteration(tmp_path):
    rows = [{"run": name} | row for name in ("one", "other") for row in progress_of(1.0, None).rows()]
    panels = [Panel("a label", {"score": "a line"})]
    write_curve(tmp_path, rows, "a title", panels, {"one": 0, "other": 0})
    with open(tmp_path / "curve.csv") as file:
        found = [list(row.values()) for row in csv.DictReader(file)]
    assert found == [[name, number, score] for name in ("one", "other") for number, score in (("0", "1.0"), ("1", ""))]


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A function that draws a curve, and gives the figure."""
    figures = []

    def write(path, width, height, draw):
        figures.append(Figure(figsize=(width, height)))
        draw(figures[-1])

    def draw(rows, panels, best):
        monkeypatch.setattr(curve, "write_figure", write)
        curve.write_curve(tmp_path, rows, "a title", panels, best)
        figures[-1].canvas.draw()
        return figures[-1]

    return draw


def test_figures_have_whole_iterations_names_in_their_case_and_the_best(drawn):
    shares = [None, 0.5, 0.5]
    rows = [{"iteration": i, "score": i % 2 - 50.0, "chrfpp": 30 + i / 2, "share": shares[i]} for i in range(3)]
    scores = score_panels("ter", {"score": "development set", "share": "training data"})
    upper, middle, lower = (figure := drawn(rows, [*scores, Panel("share", {"share": ""})], {None: 1})).axes
    labels = [axes.get_ylabel() for axes in (upper, middle, lower)]
    assert (labels, lower.get_xlabel()) == (["TER", "chrF++", "share"], "iteration")
    assert list(middle.lines[0].get_ydata()) == [30.0, 30.5, 31.0]
    assert {tick.get_text() for tick in lower.get_xticklabels()} <= {"\N{MINUS SIGN}1", "0", "1", "2", "3"}
    texts = [text.get_text() for text in upper.get_legend().get_texts()]
    assert texts == ["development set", "training data", "best: iteration 1, 49.00"]
    values = {line.get_label(): list(line.get_ydata()) for line in upper.lines}
    assert (values["development set"], values[texts[2]]) == ([50.0, 49.0, 50.0], [49.0])
    assert figure.get_figheight() == 13


def test_error_rates_are_positive_in_the_table(tmp_path):
    rows = [{"iteration": 0, "score": -50.0, "other": -1.0}, {"iteration": 1, "score": None, "other": 2.0}]
    write_curve(tmp_path, rows, "a title", score_panels("cer", {"score": "a line"})[:1], {None: 0})
    assert (tmp_path / "curve.csv").read_text() == "iteration,score,other\n0,50.0,-1.0\n1,,2.0\n"


def test_many_runs_have_no_legend_and_a_star_each(drawn):
    for n_runs in (2, 20):
        names = [f"seed-{i}" for i in range(n_runs)]
        rows = [{"run": name, "iteration": i, "score": 1.0 * i} for name in names for i in (1, 2)]
        (axes,) = drawn(rows, score_panels("chrf++", {"score": "x"}), dict.fromkeys(names, 2)).axes
        (stars,) = (line for line in axes.lines if line.get_marker() == "*")
        assert list(stars.get_xdata()) == [2] * n_runs
        shown = [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else None
        assert shown == (None if n_runs > 8 else [*names, "best of each run"])


def test_checkpoints_are_of_one_training(tmp_path):
    progress, path = progress_of(1.0, 2.0), tmp_path / "checkpoint.npz"
    save_checkpoint(path, progress, [("weights", np.arange(3.0))])
    found, arrays = load_checkpoint(path, ToyProgress, "mine", WEIGHTS)
    assert (found, list(arrays), arrays["weights"].tolist()) == (progress, ["weights"], [0.0, 1.0, 2.0])
    with pytest.raises(ConfigError, match="made with 'mine', expected other; choose another directory"):
        load_checkpoint(path, ToyProgress, "other", WEIGHTS)


def test_a_checkpoint_whose_archive_hides_arrays(tmp_path):
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, progress_of(1.0), [("weights", np.arange(3.0))])
    with np.load(path) as file:
        np.savez(path, allow_pickle=False, **{name: array for name, array in file.items() if name != "weights"})
    with pytest.raises(FormatError, match=r"not a whole checkpoint .*weights.npy missing"):
        load_checkpoint(path, ToyProgress, "mine", WEIGHTS)


@pytest.mark.parametrize(
    "header",
    ["{'shape': (", "(" * 5000, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}", "\0"],
)
def test_a_checkpoint_whose_headers_a_stranger_wrote(tmp_path, header):
    """Their archive is whole: its digests are right."""
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, progress_of(1.0), [("weights", np.arange(3.0))])
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"data"
    with np.load(path) as file:
        np.savez(path, allow_pickle=False, progress=file["progress"])
    with ZipFile(path, "a") as archive:
        archive.writestr("weights.npy", content)
    with pytest.raises(FormatError, match="not a whole checkpoint"):
        load_checkpoint(path, ToyProgress, "mine", WEIGHTS)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"keys": np.arange(2, dtype=np.uint64)}, r"values: float64 of shape \(3,\), expected float64 of shape \(2,\)"),
        ({"keys": np.arange(3)}, r"keys: int64 of shape \(3,\), expected uint64 of shape \(K,\)"),
        ({"values": np.zeros((3, 1))}, r"values: float64 of shape \(3, 1\), expected float64 of shape \(3,\)"),
        ({"values": np.zeros(3, np.float32)}, "values: float32 "),
        ({"values": np.array([1.0, np.nan, 0.0])}, "values: a number beyond 1e\\+30, or not a number"),
        ({"dense": np.zeros(1)}, r"dense: float64 of shape \(1,\), expected float64 of shape \(2,\)"),
        ({"group": np.full(3, 255, np.uint8)}, r"group: numbers of 255 to 255, expected 0 to 4"),
        ({"counts": np.array([-1])}, r"counts: numbers of -1 to -1, expected 0 to"),
        ({"more": np.zeros(1)}, "'more.npy' is no part of it"),
        ({"counts": None}, "counts.npy missing"),
    ],
)
def test_arrays_of_a_checkpoint_are_as_declared(tmp_path, change, complaint):
    path = tmp_path / "checkpoint.npz"
    keys, group = array(np.uint64, "K"), array(np.uint8, "K", below=5)
    declared = {"dense": array(np.float64, "F"), "keys": keys, "values": array(np.float64, "K"), "group": group}
    declared["counts"] = array(np.int64, 1)
    sound = {name: field.new({"F": 2, "K": 3}) for name, field in declared.items()}
    save_checkpoint(path, progress_of(1.0), sound.items())
    assert load_checkpoint(path, ToyProgress, "mine", declared, {"F": 2})[1].keys() == sound.keys()
    damaged = {name: found for name, found in (sound | change).items() if found is not None}
    save_checkpoint(path, progress_of(1.0), damaged.items())
    expected = f"checkpoint.npz: not a whole checkpoint .*{complaint}.*; delete {tmp_path}, and"
    with pytest.raises(FormatError, match=expected):
        load_checkpoint(path, ToyProgress, "mine", declared, {"F": 2})


def test_work_goes_on_where_there_is_some(tmp_path):
    path = tmp_path / "work" / "progress.yaml"
    assert begin(path, progress_of()) == progress_of()
    other = ToyProgress(signature="other")
    assert begin(path, other) == other  # nothing was done yet
    (path.parent / "weights").touch()
    assert begin(path, other.model_copy(update={"step": 5})) == other
    with pytest.raises(ConfigError, match="made with 'other', expected mine"):
        begin(path, progress_of())
