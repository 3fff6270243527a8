"""A tiny model, and clients of applications that serve it, in this process."""

import pytest
from fastapi.testclient import TestClient

from phrasebeam.server.app import create_app
from tests.decoder.models import random_toy


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The directory of a tiny model of random numbers, of words a to d and v to z."""
    directory = tmp_path_factory.mktemp("models") / "toy"
    directory.mkdir()
    random_toy(directory, 1)
    return directory


@pytest.fixture(scope="session")
def client(toy):
    """A client of a server of the toy."""
    with TestClient(create_app({"toy": toy}, threads=2)) as client:
        yield client
