"""The cost of a command: wall and processor seconds, and the peak memory of all its processes (Linux: /proc)."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple, TextIO

ROOT = Path(__file__).resolve().parent.parent
PHRASEBEAM = [sys.executable, "-m", "phrasebeam"]
POLL_SECONDS = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")


class Run(NamedTuple):
    """One command that succeeded."""

    seconds: float  # wall time
    processor_seconds: float  # of all its processes
    peak_bytes: int  # resident; pages shared by several processes count for each of them
    others: float  # mean number of processors that other programs, which disturb the measurement, kept busy meanwhile
    output: str
    messages: str  # standard error


def run(command: list[str], stdin: Path | None = None, environment: dict[str, str] | None = None) -> Run:
    """Run `command` and measure it; ends the program with its messages if it fails.

    Memory is read every POLL_SECONDS. A peak of the largest process is never missed: the kernel records it.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        with open(stdin or os.devnull, "rb") as text:
            start, busy = time.perf_counter(), busy_seconds()
            process = subprocess.Popen(
                command, stdin=text, stdout=output, stderr=messages, env=checkout_environment(environment)
            )
        with _MemoryPoll(process.pid) as poll:
            _, status, usage = os.wait4(process.pid, 0)
        seconds, busy = time.perf_counter() - start, busy_seconds() - busy
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        messages.seek(0)
        printed, said = output.read().decode(), messages.read().decode()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{said}")
    largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    own = usage.ru_utime + usage.ru_stime
    return Run(seconds, own, max(poll.peak, largest), max(0.0, busy - own) / seconds, printed, said)


class Answered(NamedTuple):
    """Cost and answers of a command that answers each line with a line; without the first line, start and end."""

    seconds: float  # wall time
    processor_seconds: float  # of all its threads
    lines: list[str]


def run_after_first(command: list[str], lines: list[str], environment: dict[str, str] | None = None) -> Answered:
    """Give `lines` to a `command`: the first alone, and the others at once when it has been answered.

    Ends the program with the command's messages if it fails.
    """
    with (
        tempfile.TemporaryFile() as messages,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            env=environment,
            text=True,
            encoding="utf-8",
        ) as process,
    ):
        assert process.stdin and process.stdout
        process.stdin.write(f"{lines[0]}\n")
        process.stdin.flush()
        answers = [process.stdout.readline()]
        elapsed, start = time.perf_counter(), _processor_clock(process.pid)
        text = "".join(f"{line}\n" for line in lines[1:])
        threading.Thread(target=_write, args=(process.stdin, text), daemon=True).start()
        answers += [process.stdout.readline() for _ in lines[1:]]
        seconds, elapsed = _processor_clock(process.pid) - start, time.perf_counter() - elapsed
        process.stdin.close()
        if process.wait() or not answers[-1]:
            messages.seek(0)
            sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{messages.read().decode()}")
    return Answered(elapsed, seconds, [answer.rstrip("\n") for answer in answers])


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def _processor_clock(pid: int) -> float:
    """Processor seconds of all threads of a process, by the clock that Linux has for each process."""
    return time.clock_gettime((~pid << 3) | 2)


def busy_seconds() -> float:
    """Processor seconds of everything on this machine since it started; 0 if the system does not say."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    except FileNotFoundError:
        return 0.0
    idle, waiting = fields[3:5]
    return (sum(fields[:8]) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def checkout_environment(changes: dict[str, str] | None = None) -> dict[str, str]:
    """The environment in which commands run the code of this checkout, installed or not."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, **(changes or {})}


class _MemoryPoll:
    """Reads the memory of a process and its descendants until the context ends."""

    def __init__(self, pid: int):
        self.pid, self.peak = pid, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._poll, daemon=True)

    def __enter__(self) -> "_MemoryPoll":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def _poll(self) -> None:
        while not self.ended.wait(POLL_SECONDS):
            self.peak = max(self.peak, tree_bytes(self.pid))


def tree_bytes(pid: int) -> int:
    """Resident bytes of the process and all its descendants; a process that is gone counts 0."""
    try:
        total = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(tree_bytes(int(child)) for child in children)
    return total


def directory_bytes(directory: Path) -> int:
    """The total size of the files in `directory`."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def table(rows: list[list[str]]) -> str:
    """A Markdown table from rows of cells; the first row is the heading."""
    heading, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([heading, "|---" * len(rows[0]) + "|", *others])


def megabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.0f} MB"
