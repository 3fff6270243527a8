"""A cluster of Ray in this process, of two processors."""

from collections.abc import Iterator
from contextlib import contextmanager

from phrasebeam.engine.ray_cluster import LOOPBACK

LIMITS = {"num_cpus": 2, "object_store_memory": 200 << 20, "_node_ip_address": LOOPBACK}


@contextmanager
def small_cluster() -> Iterator[str]:
    """Its address."""
    import ray

    ray.init("local", include_dashboard=False, log_to_driver=False, logging_level="ERROR", **LIMITS)
    try:
        yield ray.get_runtime_context().gcs_address
    finally:
        ray.shutdown()
