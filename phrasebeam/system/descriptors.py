"""File operations below Python's: open without waiting, read at a position, reserve room, owners, exchange names."""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from phrasebeam.system.optional import c_function, optional_module

fcntl = optional_module("fcntl")

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # for Linux' renameat2
FICLONE = 0x40049409  # Linux: make a copy that shares blocks until one file changes (Btrfs, XFS and others)
BLOCK = 1 << 20  # bytes
BINARY = getattr(os, "O_BINARY", 0)  # without it, Windows would change line ends
WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
HAS_OWNERS = hasattr(os, "geteuid")
WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def open_binary_descriptor(path: str | Path, flags: int, mode: int = 0o666) -> int:
    """A file descriptor by os.open; opening for reading does not wait, say for the writer of a named pipe."""
    return os.open(path, flags | BINARY | (0 if flags & (os.O_RDWR | os.O_WRONLY) else WITHOUT_WAITING), mode)


def open_without_links(path: str, flags: int) -> int:
    """Open `path`, as an opener for open(): not a symbolic link, and without waiting for the writer of a named pipe."""
    return open_binary_descriptor(path, flags | NO_LINK)


def read_at(descriptor: int, n_bytes: int, position: int) -> bytes:
    """Read at most `n_bytes` of a file from `position` on; the position of `descriptor` does not change."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, n_bytes, position)
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, position, os.SEEK_SET)
        return os.read(descriptor, n_bytes)
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)


def reserve(descriptor: int, begin: int, n_bytes: int) -> None:
    """Append `n_bytes` zeros to a file at its end `begin`, so that their room on the disk is allocated.

    Raises OSError if there is too little room: without this, a full disk would end a process that maps the file.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, begin, n_bytes)
        return
    os.lseek(descriptor, begin, os.SEEK_SET)
    zeros = memoryview(bytes(min(BLOCK, n_bytes)))
    while n_bytes:
        n_bytes -= os.write(descriptor, zeros[:n_bytes])


def share_blocks(source: int, target: int) -> None:
    """Let the file of descriptor `target` share the blocks of `source`. Raises OSError if that is impossible."""
    if fcntl is None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    fcntl.ioctl(target, FICLONE, source)


def link_read_only(path: Path, target: Path) -> None:
    """Make `target` another name of the file `path`, and make the file read-only. Raises OSError.

    From then on it can only be read and replaced. Windows does not replace read-only files.
    """
    if not HAS_OWNERS:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    os.link(path, target)
    os.chmod(path, stat.S_IMODE(path.stat().st_mode) & ~WRITE)


def sync_directory(directory: Path) -> None:
    """Make the name of a new file survive a crash of the machine, on systems where directories can be opened."""
    if not HAS_OWNERS:
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def others_may_have_written(status: os.stat_result) -> bool:
    """Whether users other than this one and root may have written a file; False on systems that do not say."""
    if not hasattr(os, "geteuid"):
        return False
    return status.st_uid not in (0, os.geteuid()) or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def user_number() -> int:
    """The number of this user; 0 on systems without such numbers."""
    return os.getuid() if hasattr(os, "getuid") else 0


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two files or directories in one step; False if the system cannot do that.

    Raises FileNotFoundError if one of them does not exist.
    """
    rename: Callable[..., Any] | None = c_function("renameat2")
    if rename is None:
        return False
    if rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    if ctypes.get_errno() == errno.ENOENT:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(other))
    return False
