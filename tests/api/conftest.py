"""A directory with a small corpus and two models of it, for the examples of the documentation."""

import pytest

import phrasebeam
from phrasebeam.training.demo.demo_corpus import write_pairs
from tests import QUICK_ALIGNMENT
from tests.decoder.models import random_toy

SHORT = {"iterations": 1, "sentences": 30, "lm_folds": 0, "scales": [1.0], "tune": None}
SHORT_LISTS = {"iterations": 1, "sentences": 30, "lm_folds": 0, "nbest": 10, "calibrate": False}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """train.de, train.en, dev.de, dev.en; model, and model-with-features, which the perceptron made of it.

    The same as raw text: raw.train.de ..., and raw-model.
    """
    directory = tmp_path_factory.mktemp("api")
    write_pairs(directory / "train", 600, 1, 0.0)
    write_pairs(directory / "dev", 20, 2, 0.0)
    for name in ("train.de", "train.en", "dev.de", "dev.en"):
        raw_text = phrasebeam.RawText(phrasebeam.RawTextSettings(source_language="de", target_language=name[-2:]))
        lines = map(raw_text.after, (directory / name).read_text().splitlines())
        (directory / f"raw.{name}").write_text("".join(f"{line}\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        phrasebeam.train_model("train.de", "train.en", "model", config=QUICK_ALIGNMENT)
        raw = {"raw": True, "source_language": "de", "target_language": "en", "config": QUICK_ALIGNMENT}
        phrasebeam.train_model("raw.train.de", "raw.train.en", "raw-model", **raw)
        data = "train.de", "train.en", "dev.de", "dev.en"
        phrasebeam.train_maxforce("model", *data, "model-with-features", config=SHORT)
    return directory


@pytest.fixture
def here(corpus, tmp_path, monkeypatch):
    """A copy of `corpus`, which is the working directory of the test."""
    for path in corpus.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A tiny model of random numbers, of words a to d and v to z."""
    directory = tmp_path_factory.mktemp("toy")
    random_toy(directory, 1)
    return directory
