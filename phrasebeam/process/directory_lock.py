"""A lock on a directory in which a process works for long, so that a second process is refused."""

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.system.locks import close_lock, holder, open_for_lock, try_lock

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

SECONDS_TO_WAIT = 2.0  # the workers of a killed process end soon after it


def alone_in_output(train: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function like `train` that holds the lock on the directory in its parameter `output`, see locked."""

    @wraps(train)
    def alone(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        with locked(signature(train).bind(*arguments, **named).arguments["output"]):
            return train(*arguments, **named)

    return alone


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock on `directory`. The directory is created if needed, and removed at the end if it is empty.

    Raises BlockingIOError, which names the other process, if another process holds the lock. On systems and file
    systems without locks nothing is locked.
    """
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = open_for_lock(directory)
    try:
        _lock(descriptor, directory, time.monotonic() + SECONDS_TO_WAIT)
        with named_in_errors(directory):
            yield
    finally:
        if is_new:
            with suppress(OSError):  # it is not empty
                directory.rmdir()
        close_lock(descriptor)


def check_free(directory: Path) -> None:
    """Raise BlockingIOError, which names the other process, if another process holds the lock on `directory`."""
    descriptor = open_for_lock(directory)
    try:
        _lock(descriptor, directory, time.monotonic())
    finally:
        close_lock(descriptor)


def _lock(descriptor: int, directory: Path, deadline: float) -> None:
    while True:
        try:
            try_lock(descriptor)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _refusal(descriptor, directory) from None
        except OSError:
            return
        time.sleep(0.02)


def _refusal(descriptor: int, directory: Path) -> BlockingIOError:
    message = f"{holder(descriptor)} is writing there; wait until it ends, or choose another directory"
    return BlockingIOError(errno.EWOULDBLOCK, message, str(directory))
