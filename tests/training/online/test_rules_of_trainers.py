"""Each update rule in each trainer, through the commands: it learns, goes on from any checkpoint, and is no other."""

import numpy as np
import pytest
import yaml

from phrasebeam.cli import main
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.online.update_rules import RULES
from tests.training.joint_selection.ranking_toy import RANKING
from tests.training.maxforce.maxforce_toy import QUICK, Killed, make_data, weights_of
from tests.training.online.killing import die_after_each_save

TEMPLATES = {"rule_id": True, "word_edges": {"most_words": 2}}
ONLINE = {"rate": 0.1, "strength": 0.001, "templates": TEMPLATES, "lm_folds": 0, "batch": 8, "checkpoint": 2}
LISTS = {"method": "online", "iterations": 3, "nbest": 20, "sparse": "weights"}
COMMANDS = {
    "train-maxforce": QUICK | {"margin": 1.0, "fixed": [], "rates": {"rule_id": 1.0, "word_edges": 1.0}},
    "train-ranking": RANKING | {"algorithm": 2, "shards": 2, "margin": 0.1, "checkpoint": 20, "workers": 1},
    "tune": LISTS | {"search": {"max_phrase_length": 1}},
}
SHARDS = {"train-maxforce": "maxforce/seed-1", "train-ranking": "ranking", "tune": "tuning/seed-1"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("rules")
    make_data(directory)
    return directory


def options(data, command, rule, output):
    """Arguments of a command that learns by a rule."""
    settings = COMMANDS[command] | {"rule": rule}
    if command == "tune":
        settings = COMMANDS[command] | {"online": ONLINE | {"rule": rule}}
    config = output.parent / f"{command}-{rule}.yaml"
    config.write_text(yaml.safe_dump(settings))
    files = {"source": "train.source", "alignment": "train.alignment", "model": "model"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target"}
    files["reference" if command == "tune" else "target"] = "train.target"
    given = [part for name, file in files.items() for part in (f"--{name}", str(data / file))]
    return [command, *given, "--output", str(output), "--config", str(config)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_rule_learns_and_goes_on_from_each_checkpoint(data, tmp_path, monkeypatch, command, rule):
    assert main(options(data, command, rule, tmp_path / "whole")) == 0
    if command != "tune":  # there one rate for all does not suit every rule
        assert Decoder.load(tmp_path / "whole").translate("a k c k").text == "A m p C m q"
    with np.load(tmp_path / "whole" / SHARDS[command] / "shard-0.npz") as arrays:
        assert {f"sparse_{name}" for name in RULES[rule].columns._fields} <= {*arrays}
        assert np.isfinite(arrays["values"]).all() and np.count_nonzero(arrays["values"]) > 20
    saved = die_after_each_save(monkeypatch)
    for _ in range(100):
        try:
            assert main(options(data, command, rule, tmp_path / "killed")) == 0
            break
        except Killed:
            pass
    assert len(saved) > 5
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


@pytest.mark.parametrize("command", COMMANDS)
def test_work_of_another_rule_is_refused_in_one_line(data, tmp_path, capsys, command):
    assert main(options(data, command, "perceptron", tmp_path / "out")) == 0
    capsys.readouterr()
    assert main(options(data, command, "adam", tmp_path / "out")) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "rule was 'perceptron', is 'adam'" in last


def test_a_checkpoint_of_another_rule_is_refused(data, tmp_path, capsys):
    """The work is said to be of the other rule, but the arrays of the shard are not."""
    outs = {rule: tmp_path / rule for rule in ("perceptron", "adam")}
    for rule, output in outs.items():
        assert main(options(data, "train-maxforce", rule, output)) == 0
    shard, other = (output / "maxforce/seed-1/shard-0.npz" for output in outs.values())
    signed = dict(np.load(other))
    with np.load(shard) as arrays:
        np.savez(other, **{name: arrays[name] for name in arrays if name != "progress"}, progress=signed["progress"])
    (outs["adam"] / "maxforce/seed-1/checkpoint.npz").unlink()
    capsys.readouterr()
    assert main(options(data, "train-maxforce", "adam", outs["adam"])) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "shard-0.npz: not a whole checkpoint (dense_mean.npy, dense_n_steps.npy" in last
    assert "sparse_squares.npy missing); delete" in last
