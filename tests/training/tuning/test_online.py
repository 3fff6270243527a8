"""tune --method online on a toy task: what it learns, the same bits however it runs and is killed, errors."""

import signal
from pathlib import Path

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.cli import main
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_config import OnlineTuning
from phrasebeam.training.tuning.online_model import OnlineData
from phrasebeam.training.tuning.tune_model import tune_model
from tests.decoder.models import assert_sound
from tests.training.maxforce.maxforce_toy import Killed, make_data, weights_of
from tests.training.online.killing import die_after_each_save, kill_at

ROOT = Path(__file__).resolve().parents[3]
QUICK = {
    "method": "online",
    "iterations": 3,
    "nbest": 20,
    "threads": 1,
    "sparse": "weights",
    "search": {"max_phrase_length": 1},  # longer phrases would know what only the context tells
}
ONLINE = {
    "templates": {"rule_id": True, "word_edges": {"most_words": 2}},
    "rate": 0.3,
    "strength": 0.001,
    "average": False,
    "lm_folds": 0,
    "batch": 8,
    "checkpoint": 2,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("online")
    make_data(directory)
    (directory / "online").write_text(yaml.safe_dump(QUICK | {"online": ONLINE}))
    return directory


def tune(data, output, online=None, test=None, **more):
    config = TuneConfig.model_validate(QUICK | {"online": ONLINE | more.pop("settings", {})} | more)
    corpus = BitextFiles(data / "train.source", [data / "train.target"])
    return tune_model(data / "model", corpus, output, config, test, online)


def of_training(data):
    return OnlineData(data / "train.alignment", BitextFiles(data / "dev.source", [data / "dev.target"]))


def options(data, output, *more):
    files = {"source": "train.source", "reference": "train.target", "model": "model", "config": "online"}
    files |= {"alignment": "train.alignment", "dev-source": "dev.source", "dev-reference": "dev.target"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(data / file))]
    return ["tune", *given, "--output", str(output), *more]


def test_learns_what_only_sparse_features_tell(data, tmp_path):
    held_out = of_training(data).held_out
    result = tune(data, tmp_path / "out", of_training(data), held_out)[0]
    assert result.score > result.before
    assert result.score == pytest.approx(result.test_score)
    assert Decoder.load(tmp_path / "out").translate("a k c k").text == "A m p C m q"
    names = (tmp_path / "out" / "sparse" / "names").read_text()
    assert "edges" in names


def test_without_templates_dense_weights_are_tuned(data, tmp_path):
    tune(data, tmp_path / "out", settings={"templates": None}, sparse="scales")
    assert not (tmp_path / "out" / "sparse").exists()
    decoder = Decoder.load(data / "model")
    after = decoder.features.by_group(np.load(tmp_path / "out" / "tuning" / "seed-1" / "shard-0.npz")["dense"])
    assert after["unknown_word_penalty"] == decoder.model.weights.unknown_word_penalty
    assert after["language_model"] != decoder.model.weights.language_model


def test_strong_regularization_leaves_no_feature(data, tmp_path):
    kept = {}
    for strength in (0.0, 5.0, 1e6):
        out = tmp_path / f"{strength:g}"
        tune(data, out, of_training(data), settings={"strength": strength, "truncate": "all"}, iterations=1)
        kept[strength] = np.load(out / "tuning" / "seed-1" / "shard-0.npz")["values"]
    sizes = [np.count_nonzero(values) for values in kept.values()]
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_the_alignment_that_the_model_keeps_is_the_default(data, tmp_path):
    """The sentences are those that the model was made of; for others there is nothing to leave out."""
    held_out = of_training(data).held_out
    tune(data, tmp_path / "given", of_training(data), iterations=1)
    tune(data, tmp_path / "kept", OnlineData(held_out=held_out), iterations=1)
    assert weights_of(tmp_path / "kept") == weights_of(tmp_path / "given")
    tune(data, tmp_path / "known", OnlineData(held_out=held_out), iterations=1, settings={"leave_one_out": None})
    assert weights_of(tmp_path / "known") != weights_of(tmp_path / "given")


@pytest.mark.parametrize("delay", [0, 2])
def test_threads_do_not_change_a_bit(data, tmp_path, delay):
    for threads in (1, 3):
        tune(data, tmp_path / f"{threads}", of_training(data), threads=threads, settings={"delay": delay})
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "3")


def test_a_delay_is_one(data, tmp_path):
    for delay in (0, 1):
        tune(data, tmp_path / f"{delay}", of_training(data), settings={"delay": delay, "checkpoint": 100})
    assert weights_of(tmp_path / "0") != weights_of(tmp_path / "1")


@pytest.mark.parametrize("settings", [{"delay": 1}, {"average": True, "truncate": "all"}])
def test_every_checkpoint_can_be_the_last(data, tmp_path, monkeypatch, settings):
    tune(data, tmp_path / "whole", of_training(data), settings=settings)
    saved = die_after_each_save(monkeypatch)
    for _ in range(100):
        try:
            tune(data, tmp_path / "killed", of_training(data), settings=settings)
            break
        except Killed:
            pass
    assert len(saved) > 5
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


@pytest.mark.needs_jit
def test_a_killed_tuning_goes_on_to_the_same_weights(data, tmp_path):
    arguments = options(data, tmp_path / "killed")
    assert kill_at(tmp_path / "killed" / "tuning" / "seed-1" / "shard-0.npz", arguments) == -signal.SIGKILL
    assert main(arguments) == 0
    assert main(options(data, tmp_path / "whole")) == 0
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


def test_the_command_shows_runs(data, tmp_path, capsys):
    assert main(options(data, tmp_path / "out", "--seed", "1", "--seed", "2", "--iterations", "1")) == 0
    assert_sound(tmp_path / "out")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", "seed-1", "seed-2", "mean", "deviation"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "online", "c": [0.1]}, r"c is \[0\.1\], which method online does not use"),
        ({"online": {"rates": {"no": 1}}}, "'no' is not a feature"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        parse_config(settings, TuneConfig, "options")


def test_data_of_online_tuning_are_for_it_alone(data, tmp_path, capsys):
    assert main(options(data, tmp_path / "out", "--method", "mert")) == 2
    assert "are only for method online" in capsys.readouterr().err
    other = {"source": "dev.source", "reference": "dev.target", "model": "model"}
    given = [part for name, file in other.items() for part in (f"--{name}", str(data / file))]
    assert main(["tune", *given, "--iterations", "1", "--output", str(tmp_path / "other")]) == 0
    assert main(options(data, tmp_path / "other")) == 2
    assert "other: a run of tune: method was 'mira-corpus', is 'online'" in capsys.readouterr().err
    with_two = options(data, tmp_path / "two", "--reference", str(data / "train.source"))
    assert main(with_two) == 2
    assert "references of training data, expected one" in capsys.readouterr().err


def test_configurations_are_settings():
    written = yaml.safe_load((ROOT / "configs" / "green2013-online.yaml").read_text(encoding="utf-8"))
    paper = load_config(ROOT / "configs" / "green2013-online.yaml", TuneConfig)
    assert (paper.method, paper.online.rate, paper.online.batch, paper.nbest) == ("online", 0.03, 20, 200)
    assert {*written["online"]} == {*OnlineTuning.model_fields}
    load_config(ROOT / "configs" / "online-small.yaml", TuneConfig)


@pytest.mark.parametrize("more", [{"method": "online", "sparse": "weights"}, {"sparse": "scales"}])
def test_a_number_of_sparse_features_needs_lists_and_weights(more):
    with pytest.raises(ConfigError, match="most_sparse has no effect"):
        TuneConfig(most_sparse=5, **more)
