"""Forks of this process: on systems without forks, or without safe ones, threads do the work.

macOS has forks, but its libraries may end a forked process that calls them.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable
from typing import Any

from phrasebeam.system.optional import c_function

SET_PARENT_DEATH_SIGNAL, KILL = 1, 9  # of Linux' prctl; the number of SIGKILL


def can_fork() -> bool:
    """Whether work may be done in forked processes."""
    return sys.platform == "linux" and hasattr(os, "fork")


def fork_context() -> Any:
    """The context of multiprocessing for forks (processes, pipes, counters); only if `can_fork`."""
    return multiprocessing.get_context("fork")


def at_fork(**called: Callable[[], None]) -> None:
    """Let each fork call `before`, `after_in_parent` or `after_in_child`, as with os.register_at_fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**called)


def end_with_parent(parent: int) -> None:
    """Let this process be killed when the process `parent` ends, or at once if that has already ended.

    Only Linux can do that; on other systems child processes end when they next write to their parent.
    """
    if prctl := c_function("prctl"):
        prctl(SET_PARENT_DEATH_SIGNAL, KILL)
        if os.getppid() != parent:  # only checked on Linux: elsewhere the parent may be a program that starts Python
            os._exit(1)
