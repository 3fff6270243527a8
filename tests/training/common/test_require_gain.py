"""Every trainer whose weights are no better says so in its last line, and with --require-gain by its status."""

from importlib import import_module
from types import SimpleNamespace

import pytest

from phrasebeam.cli import COMMANDS, main
from phrasebeam.training.common.gain import Gain, TrainingOutcome

TRAINERS = ("tune", "train-maxforce", "train-ranking", "train-expected-bleu")
NO_RUNS = SimpleNamespace(progress={}, mean=None)
NOTHING, SOME = Gain("bleu", 30.0, 30.0, ""), Gain("bleu", 30.0, 31.0, "iteration 2 of 3")


@pytest.mark.parametrize("command", TRAINERS)
def test_a_trainer_says_that_nothing_was_gained(command, monkeypatch, capsys):
    module = import_module(COMMANDS[command][0])
    function = "tune_model" if command == "tune" else command.replace("-", "_")
    monkeypatch.setattr(module, "print_table", lambda rows: None)
    monkeypatch.setattr(module, "to_table", lambda *shown: [])
    sides = ("reference",) if command == "tune" else ("target", "dev-source", "dev-reference")
    arguments = [part for name in ("model", "source", *sides, "output") for part in (f"--{name}", "x")]
    for gain, more, status in ((NOTHING, [], 0), (NOTHING, ["--require-gain"], 3), (SOME, ["--require-gain"], 0)):
        monkeypatch.setattr(module, function, lambda gain=gain, **given: TrainingOutcome(NO_RUNS, gain))
        assert main([command, *arguments, *more]) == status
        last = capsys.readouterr().out.splitlines()[-1:]
        told = "nothing gained: the best bleu, 30.00, is that of the weights it began with"
        assert last == ([] if gain is SOME else [told])
