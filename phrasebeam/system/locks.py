"""Locks of processes on files and directories (flock); on systems without such locks nothing is locked."""

import os
from contextlib import suppress
from pathlib import Path

from phrasebeam.system.optional import optional_module

fcntl = optional_module("fcntl")

HAS_LOCKS = fcntl is not None
LOCKS = Path("/proc/locks")  # of Linux
NO_DESCRIPTOR = -1


def open_for_lock(path: Path, flags: int = 0) -> int:
    """A descriptor of a file or directory for the functions below, to be closed by `close_lock`. Raises OSError.

    `flags`: more flags for os.open. Without locks it is NO_DESCRIPTOR: such systems cannot open directories.
    """
    return os.open(path, os.O_RDONLY | flags) if HAS_LOCKS else NO_DESCRIPTOR


def keep_for_lock(descriptor: int) -> int:
    """An open `descriptor`, kept for the functions below; without locks it is closed, and NO_DESCRIPTOR is returned.

    Systems without locks cannot rename files that are open.
    """
    if HAS_LOCKS:
        return descriptor
    os.close(descriptor)
    return NO_DESCRIPTOR


def close_lock(descriptor: int) -> None:
    """Close a descriptor of `open_for_lock`, which releases the lock."""
    if descriptor != NO_DESCRIPTOR:
        os.close(descriptor)


def lock(descriptor: int) -> None:
    """Wait for the lock, and take it. Raises OSError if the file system has no locks."""
    if HAS_LOCKS:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def try_lock(descriptor: int) -> None:
    """Take the lock. Raises BlockingIOError if another process holds it, OSError as `lock` does."""
    if HAS_LOCKS:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def holder(descriptor: int) -> str:
    """The process that holds the lock, from Linux' list: 1: FLOCK ADVISORY WRITE PID DEVICE:INODE ...."""
    number = str(os.fstat(descriptor).st_ino)
    with suppress(OSError):
        for line in LOCKS.read_text().splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == number:
                return f"process {fields[4]}"
    return "another process"
