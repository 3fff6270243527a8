"""Commands in a process of their own, forked from this one, which has all kernels: with limits, its end observed."""

import faulthandler
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from phrasebeam.cli import main

GIB = 2**30
LARGEST_FILE = GIB // 4
TIMED_OUT = "Timeout ("  # what faulthandler prints first
WAITING = 15  # seconds of the clock for each second of processor time, beyond which a process waits in vain


class Command(NamedTuple):
    """A command of phrasebeam, and the file that is its standard input."""

    arguments: tuple[str, ...]
    stdin: str = os.devnull


class End(NamedTuple):
    """How a process ended."""

    status: int  # of its exit; -n: by signal n
    output: bytes  # of standard output
    errors: str  # of standard error
    peak: int  # bytes of resident memory, of which some are shared with the process it was forked from


def run_isolated(commands: Sequence[Command], directory: Path, seconds: int, memory: int = 2 * GIB) -> End:
    """Run the commands one after the other, until one fails, in a forked process that works in `directory`.

    It may take so many seconds of processor time: those of the clock tell of other work of the machine, too.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            _run_and_exit(commands, directory, (output.fileno(), errors.fileno()), (seconds, memory))
        _, status, usage = os.wait4(child, 0)
        _end_group(child)
        text = _content(errors).decode("utf-8", "replace")
        return End(os.waitstatus_to_exitcode(status), _content(output), text, usage.ru_maxrss * 1024)


def run_here(commands: Sequence[Command], directory: Path) -> End:
    """Run the commands in this process, which thus gets their kernels."""
    before = Path.cwd()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with _standard_files(output.fileno(), errors.fileno()):
            os.chdir(directory)
            try:
                status = _run(commands)
            finally:
                os.chdir(before)
        return End(status, _content(output), _content(errors).decode("utf-8", "replace"), 0)


def _content(file):
    file.seek(0)
    return file.read()


def _run(commands):
    logging.disable(logging.WARNING)  # progress and remarks
    for command in commands:
        with open(command.stdin, "rb") as file:
            os.dup2(file.fileno(), 0)
        status = main(list(command.arguments))
        sys.stdout.flush()
        if status:
            return status
    return 0


def _run_and_exit(commands, directory, files, limits):
    status = 1
    try:
        os.setpgid(0, 0)
        os.chdir(directory)
        os.dup2(files[0], 1)
        os.dup2(files[1], 2)
        _replace_standard_files()
        seconds, memory = limits
        faulthandler.enable(2)
        faulthandler.register(signal.SIGXCPU, file=2, chain=True)  # says where it was, and ends it
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
        faulthandler.dump_traceback_later(WAITING * seconds, exit=True, file=2)
        signal.alarm(WAITING * seconds + 10)
        address_space = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (address_space + memory, address_space + memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = _run(commands)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _replace_standard_files():
    """Standard files on the descriptors 0 to 2, in place of those that pytest may have put there."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


@contextmanager
def _standard_files(output, errors):
    saved, objects = [os.dup(i) for i in range(3)], (sys.stdin, sys.stdout, sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(output, 1)
    os.dup2(errors, 2)
    _replace_standard_files()
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for i, descriptor in enumerate(saved):
            os.dup2(descriptor, i)
            os.close(descriptor)
        sys.stdin, sys.stdout, sys.stderr = objects
        logging.disable(logging.NOTSET)


def _end_group(group):
    """End what a command left running, such as an aligner, and wait until nothing of it writes any more."""
    for _ in range(100):
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.01)
