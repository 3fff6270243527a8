"""Kills of workers at random moments: python -m tests.engine.worker_kills 30 1 trains with 30 kills, of seed 1."""

import os
import random
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from phrasebeam.base.resident_memory import descendants
from tests.training.maxforce.maxforce_toy import make_data, weights_of

SECONDS = 0.1, 1.5  # between two kills, at least and at most
RANKING = {
    "algorithm": 4,
    "scales": [1.0],
    "tune": None,
    "lm_folds": 0,
    "templates": {"rule_id": True, "word_edges": {"most_words": 2}},
    "rate": 0.02,
    "shards": 5,
    "iterations": 3,
    "nbest": 20,
    "keep": 40,
    "search": {"algorithm": "cube", "pop_limit": 50, "stack": 50, "max_phrase_length": 1},
}


def workers_here() -> Iterator[int]:
    """Process ids of the workers that this process has started."""
    for pid in descendants():
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::RayWorker"):
                yield pid
        except OSError:
            pass


@contextmanager
def killing(most: int, seed: int) -> Iterator[list[int]]:
    """Kill one worker after the other, until there were so many; the ids of those that were killed."""
    stopped, rng, killed = threading.Event(), random.Random(seed), list[int]()

    def kill() -> None:
        while len(killed) < most and not stopped.wait(rng.uniform(*SECONDS)):
            if pids := [*workers_here()]:
                killed.append(rng.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        stopped.set()
        killer.join()


def rank(data: Path, output: Path, **options: object) -> None:
    """A short train-ranking on the toy data."""
    import phrasebeam

    names = "model", "train.source", "train.target", "dev.source", "dev.target"
    files = [data / name for name in names]
    given = {"alignment": data / "train.alignment", "config": RANKING, **options}
    phrasebeam.train_ranking(*files, output, **given)


def main(n_kills: int, seed: int) -> int:
    """Train again and again while workers are killed; 1 where what is learned differs from an undisturbed training."""
    import ray

    limits = {"num_cpus": 2, "object_store_memory": 200 << 20, "_node_ip_address": "127.0.0.1"}
    ray.init("local", include_dashboard=False, logging_level="ERROR", **limits)
    with TemporaryDirectory() as name:
        directory = Path(name)
        make_data(directory)
        rank(directory, directory / "whole", workers=1)
        done = 0
        while done < n_kills:
            output = directory / f"after-{done}"
            with killing(n_kills - done, seed + done) as killed:
                rank(directory, output, engine="ray", workers=2)
            done += len(killed)
            if weights_of(output) != weights_of(directory / "whole"):
                print(f"{done} kills: other weights")
                return 1
            print(f"{done} kills: the same weights", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
