"""Commands that get no more threads, memory or open files end with a line that says so and what to do, and status 2."""

import errno
import os
import subprocess
import sys

import pytest

from phrasebeam.process.system_errors import LEAST_ADDRESS_SPACE, NO_MEMORY, NO_THREAD, shortage
from tests import ROOT
from tests.decoder.models import random_toy

TRANSLATE = f"{sys.executable} -m phrasebeam translate --model model"
# The first threads can be started, as many as `n`.
FEW_THREADS = """
import sys, threading
from phrasebeam.cli import main
start, n = threading.Thread.start, int(sys.argv.pop())
def start_few(thread):
    global n
    n -= 1
    if n < 0:
        raise RuntimeError("can't start new thread")
    start(thread)
threading.Thread.start = start_few
sys.exit(main())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shortages")
    (folder / "model").mkdir()
    random_toy(folder / "model", 1)
    (folder / "input").write_text("a b c\n" * 20)
    return folder


def end_of(folder, *command):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    options = {"capture_output": True, "text": True, "env": environment, "cwd": folder, "check": False}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, **options)
    return done.returncode, done.stderr


@pytest.mark.parametrize("n", [0, 2, 4])  # of signals, and of memory, and of the reader, and of one search
def test_few_threads(folder, n):
    options = f"translate --model model --input input --threads 4 {n}".split()
    assert end_of(folder, sys.executable, "-c", FEW_THREADS, *options) == (2, f"phrasebeam: {NO_THREAD}\n")


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
def test_little_address_space(folder):
    status, errors = end_of(folder, "sh", "-c", f"ulimit -v {(LEAST_ADDRESS_SPACE >> 10) - 1}; {TRANSLATE} --threads 4")
    assert (status, errors.count("\n")) == (2, 1)
    assert errors.startswith("phrasebeam: the limit of address space is 1279 MB, expected at least 1280 MB")


@pytest.mark.parametrize("n", [8, 16])
def test_few_open_files(folder, n):
    status, errors = end_of(folder, "sh", "-c", f"ulimit -n {n}; {TRANSLATE} --input input --output output")
    assert (status, errors.count("\n")) == (2, 1)
    assert errors.startswith("phrasebeam: model")  # or a file of it
    assert errors.endswith(": Too many open files; raise the limit (ulimit -n)\n")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN])
def test_errors_without_a_file_name_what_is_short(number):
    reason = os.strerror(number)
    assert f": {reason}; " in shortage(OSError(number, reason))
    assert not shortage(OSError(number, reason)).startswith("None")


def test_other_errors_are_none():
    assert shortage(MemoryError()) == NO_MEMORY
    for error in (OSError(errno.ENOENT, "x", "y"), BlockingIOError(errno.EAGAIN, "locked", "y"), RuntimeError("bug")):
        assert shortage(error) == ""
