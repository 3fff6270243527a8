"""A model of the generated corpus, for which sil-machine has to be installed."""

import os

import pytest

from phrasebeam.api.trainers.train_model import train_model
from phrasebeam.training.demo.demo_corpus import write_pairs

try:
    import machine  # noqa: F401
except ImportError:
    if os.environ.get("CI"):
        raise
    collect_ignore_glob = ["test_machine*.py"]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """The files of source and target."""
    return write_pairs(tmp_path_factory.mktemp("corpus") / "train", 600, 2, 0.0)


@pytest.fixture(scope="session")
def directory(tmp_path_factory, corpus):
    """A model of tokens."""
    path = tmp_path_factory.mktemp("machine") / "model"
    train_model(*corpus, path)
    return path


@pytest.fixture(scope="session")
def raw_directory(tmp_path_factory, corpus):
    """A model of raw text."""
    path = tmp_path_factory.mktemp("machine") / "raw"
    train_model(*corpus, path, raw=True, source_language="de", target_language="en")
    return path
