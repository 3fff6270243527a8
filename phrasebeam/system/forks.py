"""Forks of this process: where the system has none, or none that is safe, work is done by threads.

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
    """The processes, pipes and counters of multiprocessing for forks, where `can_fork`."""
    return multiprocessing.get_context("fork")


def at_fork(**called: Callable[[], None]) -> None:
    """Let each fork call `before`, `after_in_parent` or `after_in_child`, as os.register_at_fork does."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**called)


def end_with_parent(parent: int) -> None:
    """Let this process be killed when the process `parent` ends, at once if that has ended already.

    Only Linux can do that; elsewhere children end when they next write to their parent.
    """
    if prctl := c_function("prctl"):
        prctl(SET_PARENT_DEATH_SIGNAL, KILL)
        if os.getppid() != parent:  # elsewhere the parent may be a program that starts Python
            os._exit(1)
