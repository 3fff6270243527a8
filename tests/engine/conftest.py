"""One cluster of two processors for all tests of a session, and engines of it."""

import pytest

from phrasebeam.engine.current_engine import EngineSettings, using_engine
from tests.engine.small_cluster import small_cluster


@pytest.fixture(scope="session")
def cluster():
    """The address of a cluster in this process."""
    pytest.importorskip("ray")
    with small_cluster() as address:
        yield address


@pytest.fixture
def engine(cluster):
    """An engine of two workers."""
    with using_engine(EngineSettings(engine="ray", workers=2)) as engine:
        yield engine
