"""What is done to a running command: signals to it, to a child of it alone, a stop for a while, a kill in a removal."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from phrasebeam.process.unfinished import NAME

Kind = Literal["SIGKILL", "SIGTERM", "SIGINT", "child", "stop", "removal"]
Process = subprocess.Popen[bytes]
LONGEST_STOP = 0.5  # seconds


def kill_child(process: Process, output: Path, rng: random.Random) -> None:
    """Kill a child, or a child of one, and nothing else; the process itself where it has none."""
    with suppress(ProcessLookupError):
        os.kill(rng.choice(descendants(process.pid) or [process.pid]), signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = [int(child) for child in (task / "children").read_text().split()]
            found += children + [one for child in children for one in descendants(child)]
    return found


def stop(process: Process, output: Path, rng: random.Random) -> None:
    """Stop the process and its children for a while."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0, LONGEST_STOP))
        os.killpg(process.pid, signal.SIGCONT)


def kill_in_removal(process: Process, output: Path, rng: random.Random) -> None:
    """Kill the process as soon as anything in its output is gone that was there."""
    before = files_in(output)
    while process.poll() is None:
        now = files_in(output)
        if before - now:
            process.send_signal(signal.SIGKILL)
            return
        before = now


def files_in(output: Path) -> set[str]:
    """The paths of all files in a directory, but of what is unfinished."""
    found = set[str]()
    for folder, folders, files in os.walk(output):
        folders[:] = [name for name in folders if not NAME.fullmatch(name)]
        found.update(os.path.join(folder, name) for name in files if not NAME.fullmatch(name))
    return found


def _send(number: signal.Signals) -> Callable[[Process, Path, random.Random], None]:
    return lambda process, output, rng: process.send_signal(number)


DISTURBANCES: dict[Kind, Callable[[Process, Path, random.Random], None]] = {
    "SIGKILL": _send(signal.SIGKILL),
    "SIGTERM": _send(signal.SIGTERM),
    "SIGINT": _send(signal.SIGINT),
    "child": kill_child,
    "stop": stop,
    "removal": kill_in_removal,
}
