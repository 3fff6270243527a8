"""Child processes that end when this process ends, for whatever reason.

When run as a program, this module runs another module as such a child: python -m phrasebeam.process.children MODULE
PARENT. Importing MODULE may take seconds; the end of the parent, a process id, is noticed from the beginning.
"""

import os
import subprocess
import sys
import threading
import time
from multiprocessing.process import BaseProcess

from phrasebeam.process.garbage import collect_rarely
from phrasebeam.process.interruption import before_end, end_by_signals
from phrasebeam.process.places import ROOT
from phrasebeam.system.forks import at_fork, end_with_parent
from phrasebeam.system.signals import blocked_signals, end_with_reader, leave_to_parent, unblock_signals

CHILD = "phrasebeam.process.children"
SECONDS_TO_STOP = 3.0  # for a forked process to remove its temporary files

_started: list["subprocess.Popen[bytes] | BaseProcess"] = []
_forking = threading.Lock()  # held while a process is forked; when this process ends, it is never released


def module_command(module: str, **variables: str) -> tuple[list[str], dict[str, str]]:
    """The command line that runs `module`, for `start`, and its environment: that of this process with `variables`.

    -P and PYTHONPATH make Python find this installation first, not modules of the same name in the working directory.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-P", "-m", CHILD, module], {**os.environ, "PYTHONPATH": path, **variables}


def start(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process with pipes: `command` is from module_command; the id of this process is appended to it."""
    command = [*command, str(os.getpid())]
    with blocked_signals():  # inherited by the child, which leaves these signals to this process
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    _note(process)
    return process


def start_forked(process: BaseProcess) -> None:
    """Fork a process that removes its own temporary files, and that SIGTERM ends when this process ends.

    Signals are blocked in the child until it calls `begin_forked`, which sets up its own handlers: the inherited ones
    would notify this process, not the child.
    """
    with _forking, blocked_signals():
        process.start()
        _note(process)


def begin_forked(parent: int) -> None:
    """Let this process, started by `start_forked`, end with the process `parent`, or by SIGTERM from it."""
    leave_to_parent()
    end_by_signals()
    unblock_signals()
    end_with_parent(parent)


def end_with_starter() -> None:
    """Let this process, started by `start`, end with its parent, and silently if the parent no longer reads."""
    end_with_reader()
    end_with_parent(int(sys.argv[-1]))


def end_children() -> None:
    """End all children, and wait until they have ended. No process is forked after that."""
    _forking.acquire()
    running = [process for process in _started if _is_running(process)]
    for process in running:
        process.terminate() if isinstance(process, BaseProcess) else process.kill()
    deadline = time.monotonic() + SECONDS_TO_STOP
    for process in running:
        while _is_running(process):
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.005)


def _note(process: "subprocess.Popen[bytes] | BaseProcess") -> None:
    _started[:] = [one for one in _started if _is_running(one)] + [process]


def _is_running(process: "subprocess.Popen[bytes] | BaseProcess") -> bool:
    return process.is_alive() if isinstance(process, BaseProcess) else process.poll() is None


def _forget() -> None:
    """After a fork: forget the children, which are the parent's."""
    global _forking
    _forking = threading.Lock()
    _started.clear()


at_fork(after_in_child=_forget)
before_end(end_children, is_first=True)

if __name__ == "__main__":
    import runpy

    end_with_starter()
    collect_rarely()
    runpy.run_module(sys.argv[1], run_name="__main__")
