"""Commands killed at random moments and run again: python -m tests.robustness.kill_campaign CHAINS SEED.

A chain is up to four: the second one kills the command that goes on after the first. The finished result must be that
of an undisturbed run, bit for bit; no file and no process may be left; a command that SIGTERM or SIGINT ends says how
to go on, and one whose child was killed tells it in a line. Prints a table, and fails where anything went wrong.
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
from tests.robustness.disturbances import DISTURBANCES, Kind, files_in
from tests.robustness.killed_commands import (
    COMMANDS,
    NEED_MORE_DATA,
    OUTPUT,
    KilledCommand,
    contents,
    make_data,
    make_more_data,
)

FIRST: tuple[Kind, ...] = ("SIGKILL", "SIGTERM", "SIGINT", "child", "stop")  # of a chain, in turn
FURTHER: tuple[Kind, ...] = (*FIRST, "SIGKILL", "removal", "removal")
LONGEST_CHAIN = 4
MOST_TRIES = 5  # to hit a command before it ends
SECONDS_TO_STOP = 5.0  # 2 and what a busy machine needs
SECONDS_TO_END = 1000  # the first run compiles kernels
GOES_ON = "run the same command again to go on from the last checkpoint in out/"
ENDINGS = ("nothing was written", "not all of the output was written")


class Ended(NamedTuple):
    """A process that has ended."""

    status: int  # negative: the signal that ended it
    errors: str  # its standard error
    seconds: float  # that it took; where a signal was sent, after it


class Trial(NamedTuple):
    """What came of a chain of kills."""

    kinds: list[Kind]
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

    def trial(self, name: str, first: Kind) -> Trial:
        """Disturb the command of that name once or several times, run it to its end, and compare."""
        command, expected = COMMANDS[name], self._undisturbed(name)
        place, ended, left, complaints = self._hit(name, first)
        kinds, resumed = [first], False
        for kind in self.rng.choices(FURTHER, k=self.rng.randrange(LONGEST_CHAIN)):
            if ended.status == 0:
                break
            resumed |= command.is_resumed and any((place / OUTPUT).iterdir())
            ended, more, further = self._disturbed(name, place, kind)
            kinds, left, complaints = [*kinds, kind], left + more, complaints + further
        resumed |= ended.status != 0 and command.is_resumed and any((place / OUTPUT).iterdir())
        again = self._run(command, place)
        if again.status != 0:
            complaints.append(f"run again it ended with status {again.status}: {again.errors[-300:]}")
        found = contents(place / OUTPUT)
        differing = [file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file)]
        if differing:
            complaints.append(f"other contents: {', '.join(sorted(differing))}")
        left += leftovers(place)
        complaints += [f"left: {file}" for file in left]
        return Trial(kinds, resumed, not differing, left, complaints)

    def _hit(self, name: str, kind: Kind) -> tuple[Path, Ended, list[str], list[str]]:
        """Where the command was disturbed, and what came of it; where it ended before, it is begun anew."""
        for _ in range(MOST_TRIES):
            place, begin = self._place("killed"), time.monotonic()
            ended, left, complaints = self._disturbed(name, place, kind)
            if ended.status or complaints or kind == "stop":
                break
            self.seconds[name] = time.monotonic() - begin  # fewer than when kernels had to be compiled
        return place, ended, left, complaints

    def _disturbed(self, name: str, place: Path, kind: Kind) -> tuple[Ended, list[str], list[str]]:
        """How the command ended that was disturbed; temporary files that it left; what is not as promised."""
        command, before, written = COMMANDS[name], leftovers(place), files_in(place / OUTPUT)
        ended = self._run(command, place, self.rng.uniform(0, self.seconds[name]), kind)
        is_killed = ended.status in (0, -signal.SIGKILL)
        left = [] if is_killed else [file for file in leftovers(place) if file not in before]
        says_nothing = ended.status and f"interrupted; {ENDINGS[0]}" in ended.errors
        wrong = ["it says that nothing was written"] if says_nothing and files_in(place / OUTPUT) - written else []
        return ended, left, self._complaints(command, ended, kind) + wrong

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

    def _run(self, command: KilledCommand, place: Path, delay: float | None = None, kind: Kind = "SIGKILL") -> Ended:
        """Run the command; with a delay, disturb it so many seconds after it is ready for signals."""
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
            if delay is not None:
                wait_until_ready(process)
                begin = time.monotonic()
                try:
                    process.wait(delay)
                except subprocess.TimeoutExpired:
                    DISTURBANCES[kind](process, place / OUTPUT, self.rng)
                    begin = time.monotonic()
            status = process.wait(SECONDS_TO_END)
            seconds = time.monotonic() - begin
            errors.seek(0)
            (place / "tmp" / "printed").unlink()
            return Ended(status, errors.read() + remaining(process.pid), seconds)

    def _complaints(self, command: KilledCommand, ended: Ended, kind: Kind) -> list[str]:
        """What is not as promised when a command has ended that was disturbed."""
        complaints = [line for line in ended.errors.splitlines() if line.startswith(("Traceback", "a process is left"))]
        if kind in ("SIGTERM", "SIGINT") and ended.status:
            return complaints + self._of_ending(command, ended, 128 + signal.Signals[kind])
        expected = {"child": (0, 2, -signal.SIGKILL), "stop": (0,)}.get(kind, (0, -signal.SIGKILL))
        if ended.status not in expected:
            complaints.append(f"{kind}: status {ended.status}: {ended.errors[-300:]}")
        if ended.status == 2 and sum(line.startswith("phrasebeam: ") for line in ended.errors.splitlines()) != 1:
            complaints.append(f"{kind}: it says: {ended.errors[-300:]}")
        return complaints

    def _of_ending(self, command: KilledCommand, ended: Ended, status: int) -> list[str]:
        """What is not as promised of a command that a signal ended."""
        complaints = []
        if ended.status != status:
            complaints.append(f"status {ended.status}, expected {status}: {ended.errors[-300:]}")
        if ended.seconds > SECONDS_TO_STOP:
            complaints.append(f"{ended.seconds:.1f} s until it ended")
        says = re.search(r"^phrasebeam: interrupted; (.*)\n\Z", ended.errors, re.M)
        if not says or not (says[1] in ENDINGS or (command.is_resumed and says[1].startswith(GOES_ON))):
            complaints.append(f"it says: {ended.errors[-200:]}")
        return complaints


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
    return sorted(str(path.relative_to(place)) for path in paths if not is_probe(path))


def is_probe(path: Path) -> bool:
    """Whether it is the file by which Python's tempfile finds out, once in a process, whether it can write."""
    return bool(re.fullmatch("[a-z0-9_]{8}", path.name)) and path.is_file() and path.read_bytes() in (b"", b"blat")


def campaign(chains: int, seed: int, names: Sequence[str] = ()) -> int:
    """Kill the commands of these names, or all, in turn; print the table, and return the number of complaints."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # children of a job in the background would ignore it
    rng, counts, kinds, complaints = random.Random(seed), Counter[tuple[str, str]](), Counter[Kind](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        make_data(Path(place) / "data")
        names = names or list(COMMANDS)
        if NEED_MORE_DATA.intersection(names):
            make_more_data(Path(place) / "data")
        trials = KillCampaign(Path(place), rng)
        for i in range(chains):
            name, first = names[i % len(names)], FIRST[(i % len(names) + i // len(names)) % len(FIRST)]
            trial = trials.trial(name, first)
            kinds.update(trial.kinds)
            counts.update({(name, column): value for column, value in row_of(trial).items()})
            what = f"{name}, {' '.join(trial.kinds)}"
            found = [f"{what}, chain {i + 1}: {complaint}" for complaint in trial.complaints]
            print("\n".join(found or [f"{i + 1} of {chains}: {what}"]), flush=True)
            complaints += found
    print_table(counts)
    print(", ".join(f"{number} {kind}" for kind, number in kinds.most_common()))
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


def print_table(counts: Counter[tuple[str, str]]) -> None:
    """A row for each command, and their sums."""
    columns = list(dict.fromkeys(column for _, column in counts))
    print(f"{'command':<26}" + "".join(f"{column:>11}" for column in columns))
    for name in dict.fromkeys(name for name, _ in counts):
        print(f"{name:<26}" + "".join(f"{counts[name, column]:>11}" for column in columns))
    totals = [sum(n for key, n in counts.items() if key[1] == column) for column in columns]
    print(f"{'all':<26}" + "".join(f"{total:>11}" for total in totals))


if __name__ == "__main__":
    sys.exit(campaign(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]) > 0)
