"""Every trainer whose weights are no better says so in its last line, and with --require-gain by its status."""

from functools import wraps
from types import SimpleNamespace

import pytest

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.commands import trainers
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.recipe.recipe_run import RecipeResult, StageRecord
from phrasebeam.training.recipe.stage import SetScores

TRAINERS = ("tune", "train-maxforce", "train-ranking", "train-expected-bleu")
NO_ITERATIONS = SimpleNamespace(iterations=[], best=0)
NO_RUNS = dict.fromkeys(TRAINERS, NO_ITERATIONS) | {
    "tune": [],
    "train-maxforce": SimpleNamespace(progress={}, mean=None),
}
NOTHING, SOME = Gain("bleu", 30.0, 30.0, ""), Gain("bleu", 30.0, 31.0, "iteration 2 of 3")


def replace(monkeypatch, command, result):
    """Let the function of a command do nothing but return `result`."""
    name = command.replace("-", "_")
    found = getattr(phrasebeam, name)
    function = wraps(found)(lambda **given: result)
    monkeypatch.setattr(phrasebeam, name, function)


@pytest.mark.parametrize("command", TRAINERS)
def test_a_trainer_says_that_nothing_was_gained(command, monkeypatch, capsys):
    monkeypatch.setattr(trainers, "print_table", lambda rows: None)
    sides = ("reference",) if command == "tune" else ("target", "dev-source", "dev-reference")
    arguments = [part for name in ("model", "source", *sides, "output") for part in (f"--{name}", "x")]
    for gain, more, status in ((NOTHING, [], 0), (NOTHING, ["--require-gain"], 3), (SOME, ["--require-gain"], 0)):
        replace(monkeypatch, command, TrainingOutcome(NO_RUNS[command], gain))
        assert main([command, *arguments, *more]) == status
        last = capsys.readouterr().out.splitlines()[-1:]
        told = "nothing gained: the best bleu, 30.00, is that of the weights it began with"
        assert last == ([] if gain is SOME else [told])


@pytest.mark.parametrize(("best", "status"), [("train-model", 3), ("tune", 0)])
def test_a_recipe_says_that_no_stage_gained(best, status, monkeypatch, capsys):
    scores = {"train-model": 20.0, "tune": 20.0 if best == "train-model" else 21.0, "mbr": 19.0}
    stages = {
        name: StageRecord(signature="", deciding=SetScores(scores={"bleu": bleu, "chrf++": 1.0}, intervals={}))
        for name, bleu in scores.items()
    }
    replace(monkeypatch, "train", RecipeResult(stages, best, {}, {}, ""))
    arguments = [part for name in ("source", "target", "dev-source", "dev-reference") for part in (f"--{name}", "x")]
    for more, expected in (([], 0), (["--require-gain"], status)):
        assert main(["train", *arguments, "--output", "x", *more]) == expected
        last = capsys.readouterr().out.splitlines()[-1]
        assert (last == "nothing gained: the best bleu, 20.00, is that of stage train-model") == (status == 3)
