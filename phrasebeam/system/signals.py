"""Signals by which a process is ended: systems have more of them or fewer."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# SIGHUP, of a terminal that is closed, is not on Windows.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
LOST_PAGE = getattr(signal, "SIGBUS", None)  # a mapped file has lost the page that is read


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Processes that are started within the block have the signals that end a process blocked."""
    if sys.platform == "win32" or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unblock_signals() -> None:
    """Let the signals that end a process come, in one that was started with these blocked."""
    if sys.platform != "win32" and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def leave_to_parent() -> None:
    """Ignore, in a forked process, what the terminal tells the parent, too, who ends us by SIGTERM.

    Of a lost page the parent tells for all.
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
