"""A connection to a cluster of Ray, or to one that is started on this machine; no other module calls Ray."""

import logging
import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.progress import log
from phrasebeam.engine.ray_address import few_tries, kept_standard_error, prepare_for, refusal
from phrasebeam.engine.worker import Worker, own_versions
from phrasebeam.system.limits import has_loopback_network

SECONDS_TO_START = 120  # for a worker
OBJECT_STORE_BYTES = 512 << 20  # of a cluster that is started on this machine
LOOPBACK = "127.0.0.2"  # Ray replaces 127.0.0.1 by the machine's address on its network
INSTALL = "--engine ray needs Ray; install phrasebeam[ray], or leave it out"


class Cluster:
    """A number of processors of a cluster."""

    def __init__(self, ray: Any, n_workers: int, is_ours: bool):
        self._ray, self.n_workers, self._is_ours, self.last_death = ray, n_workers, is_ours, ""
        processors = ray.cluster_resources().get("CPU", 1.0)
        share = min(1.0, max(0.01, int(100 * processors / n_workers) / 100))
        groups = {"work": 1, "questions": 1}  # so that questions are answered while work is done
        self._worker = ray.remote(concurrency_groups=groups, num_cpus=share, max_restarts=0)(_actor(ray))
        self.dashboard: str = getattr(ray._private.worker, "get_dashboard_url", lambda: "")() or ""

    def close(self) -> None:
        if self._is_ours:
            self._ray.shutdown()

    def put(self, value: object) -> Any:
        return self._ray.put(value)

    def get(self, reference: Any) -> Any:
        """The value of a reference; raises one of dead_worker_errors if its worker died."""
        return self._ray.get(reference)

    def wait(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """The references whose values are available; after `seconds` possibly none."""
        if not references:
            return []
        ready, others = self._ray.wait(references, num_returns=1, timeout=seconds, fetch_local=False)
        return ready + (
            self._ray.wait(others, num_returns=len(others), timeout=0, fetch_local=False)[0] if others else []
        )

    def answer_of(self, reference: Any) -> Any:
        """The value of a reference; None while it is not available, or if its worker died."""
        if not self._ray.wait([reference], timeout=0)[0]:
            return None
        try:
            return self._ray.get(reference)
        except dead_worker_errors():
            return None

    def new_worker(self) -> Any:
        return self._worker.remote(own_versions())

    def end_worker(self, actor: Any) -> None:
        self._ray.kill(actor)

    def checked(self, actor: Any) -> str | None:
        """The host of a worker, or None if it died. Raises ConfigError if its versions differ from ours."""
        try:
            different, host = self._ray.get(actor.about.remote(), timeout=SECONDS_TO_START)
        except self._ray.exceptions.GetTimeoutError:
            raise ConfigError(f"no Ray worker started within {SECONDS_TO_START} s; look at ray status") from None
        except dead_worker_errors() as error:
            self.last_death = _last_line(error)
            return None
        except self._ray.exceptions.RayError as error:
            raise ConfigError(
                f"a Ray worker cannot start ({excerpt(_last_line(error))}); install phrasebeam there"
            ) from None
        if different:
            raise ConfigError(f"{host}: {different}; install the same on all machines")
        return str(host)


def connect(address: str | None, workers: int | None) -> Cluster:
    """Connect to the cluster at `address`, or start one here, with `workers` workers or one per processor."""
    if address is not None:
        prepare_for(address)
    try:
        import ray
    except ImportError:
        raise ConfigError(INSTALL) from None
    if ray.is_initialized():  # by the Python program that calls us
        return Cluster(ray, workers or _processors(ray), is_ours=False)
    _begin(ray, address, workers or os.cpu_count() or 1)
    cluster = Cluster(ray, workers or _processors(ray), is_ours=True)
    if cluster.dashboard:
        log.info("Ray's dashboard: http://%s", cluster.dashboard)
    return cluster


def _begin(ray: Any, address: str | None, processors: int) -> None:
    """Connect Ray to `address`, or start it here with this number of processors. Raises ConfigError."""
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        options |= {"num_cpus": processors, "include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
        options |= {"address": "local"} | ({"_node_ip_address": LOOPBACK} if has_loopback_network() else {})
    else:
        options |= {"address": address}
    with kept_standard_error() as file:
        try:
            with few_tries() if address else nullcontext():
                ray.init(**options)
            return
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            reason = _last_line(error)
        file.seek(0)
        written = file.read().decode(errors="replace")
    where = address or "here"
    if advice := refusal(written + reason):
        raise ConfigError(f"{where}: {advice}")
    raise ConfigError(f"{where}: no Ray cluster ({excerpt(reason)}); start one with ray start --head")


def dead_worker_errors() -> tuple[type[BaseException], ...]:
    """The errors that Ray raises if a worker or its machine has died."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.WorkerCrashedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )


def _actor(ray: Any) -> type:
    """The class of actors; they answer questions while they work."""

    class RayWorker(Worker):
        do = ray.method(concurrency_group="work")(Worker.do)
        receive = ray.method(concurrency_group="work")(Worker.receive)
        steps = ray.method(concurrency_group="questions")(Worker.steps)

    return RayWorker


def _processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _last_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
