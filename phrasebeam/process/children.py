"""Child processes that end when this process ends, whatever ends it."""

import ctypes
import os
import signal
import subprocess
import sys
import time

from phrasebeam.process.interruption import ENDING

SECONDS_TO_STOP = 1.0  # that a forked process has, to remove its temporary files
SET_PARENT_DEATH_SIGNAL = 1  # of Linux' prctl

_started: dict[int, signal.Signals] = {}  # process ids, and the signals that end them


def start(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process with pipes: `command` is one of module_command, to which the id of this process is added."""
    command = [*command, str(os.getpid())]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # for the child, which leaves these signals to us
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _started[process.pid] = signal.SIGKILL
    return process


def add_forked(process_id: int) -> None:
    """Let a forked process, which has temporary files of its own to remove, end with this one by SIGTERM."""
    _started[process_id] = signal.SIGTERM


def end_with_parent(parent: int) -> None:
    """In a child: be killed when the process with the id `parent` ends. Ends at once if it has ended already.

    Only Linux can do that; elsewhere children end when they next write to their parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_with_starter() -> None:
    """In a process that was started by `start`: end with the parent, and silently where it reads no more."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    end_with_parent(int(sys.argv[-1]))


def end_children() -> None:
    """End all children, and wait until they have ended."""
    running = {process_id: number for process_id, number in _started.items() if _is_running(process_id)}
    for process_id, number in running.items():
        os.kill(process_id, number)
    deadline = time.monotonic() + SECONDS_TO_STOP
    for process_id in running:
        while _is_running(process_id):
            if time.monotonic() > deadline:
                os.kill(process_id, signal.SIGKILL)
            time.sleep(0.005)


def _is_running(process_id: int) -> bool:
    try:
        return os.waitpid(process_id, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False  # another thread has waited for it


os.register_at_fork(after_in_child=_started.clear)
