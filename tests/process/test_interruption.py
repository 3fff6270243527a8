"""Signals to a process that writes, computes, waits, or has children: it ends soon, cleans up, and says one line."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from phrasebeam.process.children import module_command
from tests import ROOT

PREAMBLE = """
import os, sys, threading, time
from pathlib import Path
import numpy as np
from phrasebeam.base.files import atomic_directory, atomic_file, scratch_directory
from phrasebeam.base.side_by_side import run_side_by_side
from phrasebeam.process.interruption import end_by_signals, goes_on_in, ignore_signals, wait_if_ending
end_by_signals("tool")
folder = Path(sys.argv[1])
def ready():
    print("ready", flush=True)
"""
WRITES = 'with atomic_directory(folder / "out") as d, scratch_directory(folder):\n    (d / "part").touch(); ready(); '
KINDS = {
    "writes": WRITES + "time.sleep(60)",
    "writes without end": WRITES + '[(d / f"{i}").write_bytes(bytes(9999)) for i in range(10**9)]',
    "sorts": WRITES + "np.sort(np.random.default_rng(1).random(2 * 10**8))",
    "reads": WRITES + "sys.stdin.read()",
    "has workers": """
def work(piece, advance):
    with atomic_file(folder / f"{piece}"):
        advance(1)
        time.sleep(60)
try:
    run_side_by_side(work, range(2), 2, lambda n: ready())
finally:
    wait_if_ending()
""",
}


def start(script, folder, **more):
    command = [sys.executable, "-c", PREAMBLE + script, str(folder)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # Where tests run in the background, or by nohup, these two are ignored, and a child inherits that.
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, default) for number, default in defaults.items()}
    try:
        process = subprocess.Popen(command, cwd=ROOT, text=True, start_new_session=True, **pipes, **more)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process, number):
    """Status, seconds and standard error after a signal; all processes of the group must have ended."""
    begin = time.monotonic()
    process.send_signal(number)
    status = process.wait(30)
    seconds = time.monotonic() - begin
    for _ in range(1000):  # a busy machine takes seconds, a child that is left stays
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return status, seconds, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    raise AssertionError("a child is left")


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *((kind, signal.SIGTERM) for kind in KINDS),
        *((kind, number) for kind in ("writes", "has workers") for number in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_a_signal_ends_it(tmp_path, kind, number):
    status, seconds, errors = ended(start(KINDS[kind], tmp_path), number)
    assert (status, errors) == (128 + number, "tool: interrupted; nothing was written\n")
    assert seconds < 5
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_child_imports_its_module_only_if_its_parent_lives(is_alive):
    command, environment = module_command("this")  # which prints
    parent = os.getpid() if is_alive else os.getppid()
    done = subprocess.run([*command, str(parent)], env=environment, capture_output=True, text=True)
    assert (done.returncode, "Zen" in done.stdout) == (int(not is_alive), is_alive)


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    assert ended(start(KINDS["has workers"], tmp_path), signal.SIGKILL)[0] == -signal.SIGKILL


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ('(folder / "work").mkdir(); goes_on_in(folder / "work")', "run the same command again to go on from .*work"),
        (
            'stage = folder / "whole" / "stages" / "part"; stage.mkdir(parents=True); '
            'goes_on_in(folder / "whole"); goes_on_in(stage)',
            "run the same command again to go on from .*whole",
        ),
        ('goes_on_in(folder / "nowhere")', "nothing was written"),
        ('atomic_file(folder / "file").__enter__()', "nothing was written"),
        ('with atomic_file(folder / "file"):\n    pass', "not all of the output was written"),
    ],
)
def test_it_says_how_to_go_on(tmp_path, script, line):
    errors = ended(start(f"{script}\nready()\ntime.sleep(60)", tmp_path), signal.SIGTERM)[2]
    assert re.fullmatch(f"tool: interrupted; {line}\n", errors)


def test_a_second_signal_ends_at_once(tmp_path):
    script = """
from phrasebeam.process.interruption import before_end
before_end(lambda: time.sleep(60), is_first=True)
with atomic_file(folder / "file"):
    ready(); time.sleep(60)
"""
    process = start(script, tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    assert ended(process, signal.SIGTERM)[::2] == (143, "")


def test_errors_of_what_the_signal_disturbs_are_not_printed(tmp_path):
    script = """
import typer
from phrasebeam.commands.command_line import run
app = typer.Typer()
@app.command()
def command():
    with atomic_directory(folder / "out") as d:
        ready()
        while True:
            (d / "file").write_text("text")
            os.listdir(d)
sys.exit(run(app, "tool", []))
"""
    status, _, errors = ended(start(script, tmp_path), signal.SIGTERM)
    assert (status, errors) == (143, "tool: interrupted; nothing was written\n")


def test_a_command_that_has_ended_is_not_interrupted(tmp_path):
    process = start(
        """
import atexit
atexit.register(lambda: (ready(), time.sleep(1)))
ignore_signals()
""",
        tmp_path,
    )
    assert ended(process, signal.SIGTERM)[::2] == (0, "")


def test_ignored_signals_stay_ignored(tmp_path):
    process = start(
        "ready()\ntime.sleep(60)", tmp_path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    assert ended(process, signal.SIGTERM)[0] == 143
