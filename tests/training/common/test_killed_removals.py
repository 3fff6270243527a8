"""Trainings that tune before they score, killed while they remove a tuning's work: they go on to the same bits."""

import pytest

from phrasebeam.training.common.development_set import DevelopmentData
from phrasebeam.training.common.training_data import TrainingData
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import train_expected_bleu
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from tests.training.joint_selection.ranking_toy import RANKING
from tests.training.maxforce import maxforce_toy
from tests.training.maxforce.maxforce_toy import Killed
from tests.training.online.killing import die_in_removals

SEARCH = {"stack": 10, "max_phrase_length": 1}
TUNE = {"method": "mert", "iterations": 2, "nbest": 10, "mert": {"restarts": 1}, "search": SEARCH}
COMMON = {"tune": TUNE, "iterations": 2, "threads": 1}
TRAINERS = {
    "maxforce": (train_maxforce, MaxforceConfig, maxforce_toy.QUICK),
    "ranking": (train_ranking, RankingConfig, RANKING | {"shards": 2, "workers": 1}),
    "expected_bleu": (
        train_expected_bleu,
        ExpectedBleuConfig,
        {"leave_one_out": "penalty", "nbest": 10, "features": ["a"], "score_every": 1, "search": SEARCH},
    ),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("removals")
    maxforce_toy.make_data(directory)
    return directory


def learn(name, data, output):
    train, kind, settings = TRAINERS[name]
    corpus = TrainingData(data / "train.source", data / "train.target", data / "train.alignment")
    development = DevelopmentData(data / "dev.source", [data / "dev.target"])
    train(data / "model", corpus, development, output, kind.model_validate(settings | COMMON))


def written(directory):
    """The files of a model and of its tuned weights, but those that tell how long it took or where it is."""
    paths = [path for path in directory.rglob("*") if path.suffix in (".npy", ".bin", ".txt") or "weights" in path.name]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize("name", TRAINERS)
def test_a_training_killed_while_it_removes_a_tuning_goes_on_to_the_same_bits(data, tmp_path, monkeypatch, name):
    learn(name, data, tmp_path / "whole")
    died = die_in_removals(monkeypatch)
    for _ in range(20):
        try:
            learn(name, data, tmp_path / "killed")
            break
        except Killed:
            assert not died[-1].exists()
    monkeypatch.undo()
    assert len(died) >= 2
    ours = {file: content for file, content in written(tmp_path / "killed").items() if ".unfinished" not in file}
    assert ours == written(tmp_path / "whole")
