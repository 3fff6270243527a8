"""Tiny models, and clients of applications that serve them, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml
from fastapi.testclient import TestClient

from phrasebeam.server.app import create_app
from tests.decoder.models import random_toy

RAW = {"source_language": "de", "target_language": "en", "casing": "lowercase"}


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The directory of a tiny model of random numbers, of words a to d and v to z."""
    directory = tmp_path_factory.mktemp("models") / "toy"
    directory.mkdir()
    random_toy(directory, 1)
    return directory


@pytest.fixture(scope="session")
def raw_toy(tmp_path_factory):
    """Another one, whose text is German and English raw text."""
    directory = tmp_path_factory.mktemp("models") / "raw"
    directory.mkdir()
    random_toy(directory, 2)
    description = yaml.safe_load((directory / "model.yaml").read_text())
    (directory / "model.yaml").write_text(yaml.safe_dump(description | {"preprocessing": RAW}))
    return directory


@contextmanager
def client_of(app) -> Iterator[TestClient]:
    """A client of an application that runs; it raises what the server fails with."""
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture(scope="session")
def client(toy, raw_toy):
    """A client of a server of both."""
    with client_of(create_app({"toy": toy, "raw": raw_toy}, threads=2)) as client:
        yield client


@pytest.fixture(scope="session")
def slow_toy(tmp_path_factory):
    """A model whose search has no limits: it takes minutes for 80 words, and some milliseconds for 8."""
    directory = tmp_path_factory.mktemp("models") / "slow"
    directory.mkdir()
    random_toy(directory, 3, most=3)
    search = {"stack": 0, "beam_threshold": 0, "distortion_limit": 20, "table_limit": 0}
    (directory / "search.yaml").write_text(yaml.safe_dump({"search": search}))
    return directory
