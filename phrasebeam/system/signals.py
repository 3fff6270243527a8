"""Signals that end a process: not all systems have the same ones."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# SIGHUP, which a closed terminal sends, does not exist on Windows.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
LOST_PAGE = getattr(signal, "SIGBUS", None)  # sent when a mapped file has lost the page that is read


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block the signals that end a process in processes that are started within the block."""
    if sys.platform == "win32" or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unblock_signals() -> None:
    """Unblock the signals that end a process, in a process that was started with them blocked."""
    if sys.platform != "win32" and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def leave_to_parent() -> None:
    """Ignore signals, in a forked process, that the terminal also sends to the parent: that ends us by SIGTERM.

    A lost page ends the process silently: the parent reports it for all its processes.
    """
    for number in ENDING:
        if number != signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
    if LOST_PAGE is not None:
        signal.signal(LOST_PAGE, signal.SIG_DFL)


def end_with_reader() -> None:
    """Let this process end silently when it writes to a pipe that nobody reads any more."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
