"""Child processes that end when this process ends, whatever ends it.

As a program it runs a module as such a child: python -m phrasebeam.process.children MODULE PARENT. The module may take
seconds to be imported; the end of the parent, a process id, is noticed from the beginning.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.process import BaseProcess

from phrasebeam.process.garbage import collect_rarely
from phrasebeam.process.interruption import ENDING, before_end
from phrasebeam.process.places import ROOT

CHILD = "phrasebeam.process.children"
SECONDS_TO_STOP = 3.0  # that a forked process has, to remove its temporary files
SET_PARENT_DEATH_SIGNAL = 1  # of Linux' prctl

_started: dict[int, signal.Signals] = {}  # process ids, and the signals that end them
_forking = threading.Lock()  # held while a process is forked; at the end, for good


def module_command(module: str, **variables: str) -> tuple[list[str], dict[str, str]]:
    """The command line that runs `module`, for `start`, and its environment: ours with `variables` added.

    -P and PYTHONPATH make Python find this installation first, not modules of the same name in the working directory.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-P", "-m", CHILD, module], {**os.environ, "PYTHONPATH": path, **variables}


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


def start_forked(process: BaseProcess) -> None:
    """Fork a process, which has temporary files of its own to remove, and ends with this one by SIGTERM.

    Signals are blocked in it until it calls `signal.pthread_sigmask`, once it has its own way to end: those that it
    has of us would tell this process, not it.
    """
    with _forking:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if process.pid is not None:
            _started[process.pid] = signal.SIGTERM


def end_with_parent(parent: int) -> None:
    """Let this process be killed when the process `parent` ends, at once if that has ended already.

    Only Linux can do that; elsewhere children end when they next write to their parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_with_starter() -> None:
    """End, in a process of `start`, with the parent, and silently if the parent no longer reads."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    end_with_parent(int(sys.argv[-1]))


def end_children() -> None:
    """End all children, and wait until they have ended. No process is forked after that."""
    _forking.acquire()
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


def _forget() -> None:
    """After a fork: forget the children, which are the parent's."""
    global _forking
    _forking = threading.Lock()
    _started.clear()


os.register_at_fork(after_in_child=_forget)
before_end(end_children, is_first=True)

if __name__ == "__main__":
    import runpy

    end_with_starter()
    collect_rarely()
    runpy.run_module(sys.argv[1], run_name="__main__")
