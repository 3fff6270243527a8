"""Commands killed at random moments and run again: python -m tests.robustness.kill_campaign CHAINS SEED [COMMAND ...].

A chain is up to four disturbances on one output, the later ones while the command goes on from the earlier: SIGKILL,
SIGTERM and SIGINT, a child killed alone, SIGSTOP and SIGCONT, SIGKILL just when a directory is removed. The finished
result must be that of an undisturbed run, bit for bit; no file and no process may be left; a command that SIGTERM or
SIGINT ends says how to go on. Prints a table by command and first disturbance, and fails where anything went wrong.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from tests import ROOT
from tests.robustness.killed_commands import (
    COMMANDS,
    NEED_MORE_DATA,
    OUTPUT,
    KilledCommand,
    contents,
    make_data,
    make_more_data,
)

SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}
# A child alone is killed; the process is stopped for a moment; it is killed when a directory is removed.
KINDS = (*SIGNALS, "child", "pause", "removal")
LONGEST_CHAIN = 4
SECONDS_OF_PAUSE = 0.3
SECONDS_TO_STOP = 5.0  # 2 and what a busy machine needs
SECONDS_TO_END = 1000  # the first run compiles kernels
GOES_ON = "run the same command again to go on from the last checkpoint in out/"
ENDINGS = ("nothing was written", "not all of the output was written")


class Disturbance(NamedTuple):
    """What happens to a process, so many seconds after it is ready for signals."""

    kind: str  # one of KINDS
    delay: float


class Ended(NamedTuple):
    """A process that has ended."""

    status: int  # negative: the signal that ended it
    errors: str  # its standard error
    seconds: float  # that it took; where a signal was sent, after it


class Trial(NamedTuple):
    """What came of disturbing a command, several times in a chain."""

    kinds: list[str]  # how it was disturbed before it ended
    resumed: bool  # whether there was something that the command, run again, could go on from
    identical: bool  # what it then wrote, with what an undisturbed one writes
    leftovers: list[str]  # temporary files and directories
    complaints: list[str]  # of all kinds


class KillCampaign:
    """Kills commands in a directory of their own."""

    def __init__(self, directory: Path, rng: random.Random):
        self.data, self.directory, self.rng = directory / "data", directory, rng
        self.expected: dict[str, dict[str, object]] = {}
        self.seconds: dict[str, float] = {}  # that a command takes

    def trial(self, name: str, kind: str) -> Trial:
        """Disturb the command of that name, and what goes on from there up to three times more; then compare."""
        command, expected = COMMANDS[name], self._undisturbed(name)
        place, done, left, complaints, resumed = self._place("killed"), list[str](), list[str](), list[str](), False
        length = self.rng.randint(1, LONGEST_CHAIN)
        while len(done) < length:
            again = kind if not done else self.rng.choice(KINDS)
            ended = self._run(command, place, Disturbance(again, self.rng.uniform(0, self.seconds[name])))
            if ended.status == 0 and not done and again != "pause":  # it was faster
                self.seconds[name], place = ended.seconds, self._place("killed")
                if again in SIGNALS:
                    continue
            done.append(again)
            left += leftovers(place) if again in ("terminate", "interrupt") else []
            complaints += self._complaints(command, place, ended, again)
            if ended.status == 0:
                break
            resumed = resumed or (command.is_resumed and any((place / OUTPUT).iterdir()))
        if ended.status != 0 or not any((place / OUTPUT).iterdir()):
            ended = self._run(command, place)
        if ended.status != 0:
            complaints.append(f"run again it ended with status {ended.status}: {ended.errors[-300:]}")
        found = contents(place / OUTPUT)
        differing = [file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file)]
        if differing:
            complaints.append(f"other contents: {', '.join(sorted(differing))}")
        left += leftovers(place)
        complaints += [f"left: {file}" for file in left]
        return Trial(done, resumed, not differing, left, complaints)

    def _place(self, name: str) -> Path:
        place = self.directory / name
        shutil.rmtree(place, ignore_errors=True)
        for part in (OUTPUT, "tmp"):
            (place / part).mkdir(parents=True)
        return place

    def _undisturbed(self, name: str) -> dict[str, object]:
        """What the command writes."""
        if name not in self.expected:
            place = self._place("undisturbed")
            ended = self._run(COMMANDS[name], place)
            if ended.status != 0:
                raise RuntimeError(f"{name} fails: {ended.errors}")
            self.expected[name], self.seconds[name] = contents(place / OUTPUT), ended.seconds
        return self.expected[name]

    def _run(self, command: KilledCommand, place: Path, disturbance: Disturbance | None = None) -> Ended:
        """Run the command, and disturb it."""
        arguments = command.arguments.format(data=self.data).split()
        with ExitStack() as stack:
            given = stack.enter_context(open(self.data / command.input if command.input else os.devnull))
            printed = stack.enter_context(open(place / "tmp" / "printed", "w"))
            errors = stack.enter_context(tempfile.TemporaryFile("w+"))
            process = subprocess.Popen(
                [sys.executable, "-m", "phrasebeam", *arguments],
                cwd=place,
                env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(place / "tmp")},
                stdin=given,
                stdout=printed,
                stderr=errors,
                start_new_session=True,
            )
            stack.callback(process.kill)
            begin = time.monotonic()
            if disturbance is not None:
                wait_until_ready(process)
                begin = disturb(process, disturbance, place / OUTPUT)
            status = process.wait(SECONDS_TO_END)
            seconds = time.monotonic() - begin
            errors.seek(0)
            (place / "tmp" / "printed").unlink()
            return Ended(status, errors.read() + remaining(process.pid), seconds)

    def _complaints(self, command: KilledCommand, place: Path, ended: Ended, kind: str) -> list[str]:
        """What is not as promised just after a disturbance."""
        complaints = [line for line in ended.errors.splitlines() if line.startswith(("Traceback", "a process is left"))]
        number = SIGNALS.get(kind)
        if number in (None, signal.SIGKILL):
            expected = {"kill": (-signal.SIGKILL, 0), "child": (2, 0), "pause": (0,), "removal": (-signal.SIGKILL, 0)}
            wrong = f"status {ended.status} after {kind}: {ended.errors[-300:]}"
            return complaints + ([] if ended.status in expected[kind] else [wrong])
        if ended.status == 0:
            return complaints
        if ended.status != 128 + number:
            complaints.append(f"status {ended.status}, expected {128 + number}: {ended.errors[-300:]}")
        if ended.seconds > SECONDS_TO_STOP:
            complaints.append(f"{ended.seconds:.1f} s until it ended")
        says = re.search(r"^phrasebeam: interrupted; (.*)\n\Z", ended.errors, re.M)
        if not says or not (says[1] in ENDINGS or (command.is_resumed and says[1].startswith(GOES_ON))):
            complaints.append(f"it says: {ended.errors[-200:]}")
        return complaints


def disturb(process: subprocess.Popen[bytes], disturbance: Disturbance, output: Path) -> float:
    """Disturb the process unless it ends before; when that was."""
    kind, delay = disturbance
    begin = time.monotonic()
    if kind == "removal":
        wait_for_removal(process, output, delay)
    else:
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay)
            return begin
    begin = time.monotonic()
    if kind == "pause":
        process.send_signal(signal.SIGSTOP)
        time.sleep(SECONDS_OF_PAUSE)
        process.send_signal(signal.SIGCONT)
    elif kind == "child":
        for child in children_of(process.pid)[:1]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    else:
        process.send_signal(SIGNALS.get(kind, signal.SIGKILL))
    return begin


def wait_for_removal(process: subprocess.Popen[bytes], output: Path, delay: float) -> None:
    """Wait until a directory in `output` gets another name or goes away, after the delay, or the process ends."""
    begin, known = time.monotonic(), set[str]()
    while process.poll() is None:
        there = {folder for folder, _, _ in os.walk(output)}
        if known - there and time.monotonic() - begin >= delay:
            return
        known = there


def children_of(process: int) -> list[int]:
    """The children that a process has now."""
    with suppress(OSError):
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


def wait_until_ready(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has a handler of SIGTERM; before, Python itself begins."""
    bit = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text(), re.M)
        if caught and int(caught[1], 16) & bit:
            return
        time.sleep(0.001)


def remaining(group: int) -> str:
    """A line if processes of the group have not ended some seconds after their parent."""
    deadline = time.monotonic() + SECONDS_TO_STOP
    with suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.01)
        os.killpg(group, signal.SIGKILL)
        return "a process is left\n"
    return ""


def leftovers(place: Path) -> list[str]:
    """Temporary files and directories, beside outputs and where temporary files are."""
    paths = {*place.rglob("*.unfinished"), *(place / "tmp").iterdir()}
    return sorted(str(path.relative_to(place)) for path in paths)


def campaign(chains: int, seed: int, names: Sequence[str] = ()) -> int:
    """Disturb the commands of these names, or all, in turn; print the table, and return the number of complaints."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # children of a job in the background would ignore it
    rng, counts, complaints = random.Random(seed), Counter[tuple[str, str, str]](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        make_data(Path(place) / "data")
        names = names or list(COMMANDS)
        if NEED_MORE_DATA.intersection(names):
            make_more_data(Path(place) / "data")
        trials = KillCampaign(Path(place), rng)
        for i in range(chains):
            name, kind = names[i % len(names)], KINDS[(i % len(names) + i // len(names)) % len(KINDS)]
            trial = trials.trial(name, kind)
            counts.update({(name, kind, column): value for column, value in row_of(trial).items()})
            chain = f"{name}, {', '.join(trial.kinds)}"
            found = [f"{chain}, chain {i + 1}: {complaint}" for complaint in trial.complaints]
            print("\n".join(found or [f"{i + 1} of {chains}: {chain}"]), flush=True)
            complaints += found
    print_table(counts)
    return len(complaints)


def row_of(trial: Trial) -> dict[str, int]:
    """The columns of the table."""
    return {
        "chains": 1,
        "kills": len(trial.kinds),
        "resumed": trial.resumed,
        "identical": trial.identical,
        "leftovers": len(trial.leftovers),
        "complaints": len(trial.complaints),
    }


def print_table(counts: Counter[tuple[str, str, str]]) -> None:
    """A row for each command and kind of first disturbance, and their sums."""
    columns = list(dict.fromkeys(column for _, _, column in counts))
    print(f"{'command':<28}{'first':<10}" + "".join(f"{column:>11}" for column in columns))
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in counts):
        print(f"{name:<28}{kind:<10}" + "".join(f"{counts[name, kind, column]:>11}" for column in columns))
    totals = [sum(n for key, n in counts.items() if key[2] == column) for column in columns]
    print(f"{'all':<38}" + "".join(f"{total:>11}" for total in totals))


if __name__ == "__main__":
    sys.exit(campaign(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]) > 0)
