"""A training that is killed while it removes a finished inner tuning goes on to the same result, texts included."""

import shutil
from pathlib import Path

import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import train_expected_bleu
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from phrasebeam.training.tuning import tune
from tests.training.joint_selection.ranking_toy import RANKING
from tests.training.maxforce.maxforce_toy import QUICK, Killed, make_data

TUNE = {"iterations": 2, "nbest": 10, "search": {"algorithm": "cube", "stack": 10}}
LISTS = {"lm_folds": 0, "features": ["a"], "nbest": 10, "score_every": 1, "threads": 1, "search": {"stack": 10}}
EXPECTED = ExpectedBleuConfig.model_validate(LISTS | {"iterations": 1, "tune": TUNE})
TRAINERS = {
    "expected_bleu": (train_expected_bleu, EXPECTED),
    "ranking": (train_ranking, RankingConfig.model_validate(RANKING | {"shards": 2, "iterations": 1, "tune": TUNE})),
    "maxforce": (train_maxforce, MaxforceConfig.model_validate(QUICK | {"iterations": 1, "tune": TUNE})),
}
FIRST = {  # what is removed before the kill
    "weights": lambda path: path.name.startswith("weights."),
    "translations": lambda path: path.parent.name == "translations",
    "nothing": lambda path: False,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("removals")
    make_data(directory)
    return directory


@pytest.fixture(scope="module", params=TRAINERS)
def learn(request, data):
    """A function that trains, and what it writes when nothing disturbs it."""
    train, config = TRAINERS[request.param]
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    development = BitextFiles(data / "dev.source", [data / "dev.target"])

    def run(output):
        train(data / "model", corpus, development, output, config)
        return contents(output)

    return run, run(data / request.param)


def contents(output):
    """The model and the translations that were kept, not what this process still holds."""
    paths = [*output.glob("*"), *output.rglob("sparse/*"), *output.rglob("phrases/*"), *output.rglob("translations/*")]
    kept = [path for path in paths if path.is_file() and ".unfinished" not in str(path)]
    return {str(path.relative_to(output)): path.read_bytes() for path in kept}


@pytest.mark.parametrize("first", FIRST)
def test_the_same_command_ends_with_the_same_bytes(learn, tmp_path, monkeypatch, first):
    run, undisturbed = learn
    remove, killed = shutil.rmtree, []

    def remove_and_die(path, **_):
        for file in filter(Path.is_file, Path(path).rglob("*")):
            if FIRST[first](file):
                file.unlink()
        killed.append(path)
        raise Killed

    monkeypatch.setattr(shutil, "rmtree", remove_and_die)
    with pytest.raises(Killed):
        run(tmp_path / "killed")
    monkeypatch.setattr(shutil, "rmtree", remove)
    assert len(killed) == 1
    assert run(tmp_path / "killed") == undisturbed


def test_missing_translations_are_one_line(learn, tmp_path, monkeypatch):
    """Which somebody has removed."""
    run, _ = learn
    finish = tune.Tuner.finish

    def finish_and_lose(tuner):
        finish(tuner)
        shutil.rmtree(tuner.run.directory / "translations")

    monkeypatch.setattr(tune.Tuner, "finish", finish_and_lose)
    with pytest.raises(FormatError, match=r"0 translations, expected 10; delete .*, and the run begins again"):
        run(tmp_path / "out")
