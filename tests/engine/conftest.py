"""One cluster of two processors for all tests of a session, and engines of it."""

import pytest

from phrasebeam.engine.engine import EngineSettings, using_engine


@pytest.fixture(scope="session")
def cluster():
    """The address of a cluster in this process."""
    ray = pytest.importorskip("ray")
    limits = {"num_cpus": 2, "object_store_memory": 200 << 20, "_node_ip_address": "127.0.0.1"}
    ray.init("local", include_dashboard=False, logging_level="ERROR", **limits)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture
def engine(cluster):
    """An engine of two workers."""
    with using_engine(EngineSettings(engine="ray", workers=2)) as engine:
        yield engine
