"""Kills of workers at random moments: python -m tests.engine.worker_kills 30 1 has 30 of seed 1, over all commands."""

import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from phrasebeam.system.memory_use import descendants
from tests.engine.compared_commands import COMMANDS, make_compared_data, written
from tests.engine.small_cluster import small_cluster

SECONDS = 0.2, 2.5  # between two kills, at least and at most
MOST = 3  # kills of one run: work that outlives eight workers is thought to be what kills them


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


def main(n_kills: int, seed: int) -> int:
    """Run the commands one after the other while workers are killed; 1 where one wrote other bytes than undisturbed."""
    killed_of = dict.fromkeys(COMMANDS, 0)
    with small_cluster(), TemporaryDirectory() as name:
        directory, done = Path(name), 0
        (directory / "data").mkdir()
        make_compared_data(directory / "data")
        expected = {one: written(one, directory / "data", directory / one, {"workers": 1}) for one in COMMANDS}
        for command in cycle(COMMANDS):
            output = directory / f"after-{done}"
            with killing(min(MOST, n_kills - done), seed + done) as killed:
                found = written(command, directory / "data", output, {"engine": "ray", "workers": 2})
            shutil.rmtree(output)
            done, killed_of[command] = done + len(killed), killed_of[command] + len(killed)
            if found != expected[command]:
                print(f"{command}, {len(killed)} kills: other bytes")
                return 1
            print(f"{command}, {len(killed)} kills: the same bytes; {done} in all", flush=True)
            if done >= n_kills:
                break
    print("; ".join(f"{command}: {n}" for command, n in killed_of.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
