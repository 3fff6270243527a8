"""Temporary files and directories that become the results of commands; those of killed processes are removed.

A process holds a lock on each of its own. The next process that writes to the same folder removes those without a
lock: they were left by a process that was killed. On systems without locks they stay.
"""

import errno
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from phrasebeam.process.directory_lock import check_free
from phrasebeam.process.interruption import before_end, note_output
from phrasebeam.system.descriptors import NO_LINK, WITHOUT_WAITING, exchange
from phrasebeam.system.forks import at_fork
from phrasebeam.system.locks import HAS_LOCKS, close_lock, keep_for_lock, lock, open_for_lock, try_lock

SUFFIX = ".phrasebeam.unfinished"  # no other program uses it: files of other programs are not ours to remove
NAME = re.compile(rf"\..*\.[a-z0-9_]{{8}}{re.escape(SUFFIX)}", re.DOTALL)  # tempfile adds eight characters
SECONDS_TO_REMOVE = 2.0  # while other threads may still write

_changing = threading.Lock()  # held while an unfinished file begins or is renamed; at the end never released
_begun: set[Path] = set()  # what this process has to remove at its end


@contextmanager
def unfinished_file(folder: Path, name: str) -> Iterator[Path]:
    """A new file in `folder` that will be renamed to `name`; removed at the end if it is still there."""
    with _unfinished(folder, name, is_directory=False) as path:
        yield path


@contextmanager
def unfinished_directory(folder: Path, name: str) -> Iterator[Path]:
    """A new directory in `folder` that will be renamed to `name`; removed at the end if it is still there."""
    with _unfinished(folder, name, is_directory=True) as path:
        yield path


@contextmanager
def _unfinished(folder: Path, name: str, is_directory: bool) -> Iterator[Path]:
    remove_abandoned(folder)
    with _changing:
        path, descriptor = _new(folder, name, is_directory)
        _begun.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _begun.discard(path)
        close_lock(descriptor)


def put_in_place(unfinished: Path, path: Path) -> None:
    """Rename a finished file or directory to `path` in one step; an old directory there gets the unfinished name.

    Raises OSError, for example if another process has locked the directory `path`.
    """
    with _changing:
        _replace(unfinished, path)
        if _begun.isdisjoint(path.absolute().parents):  # otherwise the directory around it is unfinished
            note_output()


def remove(path: Path) -> None:
    """Remove the file or directory `path`, if it exists, in one step: a process that is killed leaves all or nothing.

    What a killed process leaves of it under another name is removed by the next process that writes to the same folder.
    """
    with suppress(FileNotFoundError), unfinished_directory(path.parent, path.name) as begun:
        os.replace(path, begun / path.name)


def remove_unfinished() -> None:
    """Remove everything unfinished of this process before it ends; after that, threads cannot begin or finish any."""
    _changing.acquire()
    deadline = time.monotonic() + SECONDS_TO_REMOVE
    while (left := [path for path in _begun.copy() if os.path.lexists(path)]) and time.monotonic() < deadline:
        for path in left:
            _remove(path)


def is_unfinished(path: Path) -> bool:
    """Whether the name of a file or directory marks it as unfinished."""
    return NAME.fullmatch(path.name) is not None


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files and directories in `folder` that no process has locked."""
    if not HAS_LOCKS:
        return  # another process may still write them
    try:
        with os.scandir(folder) as entries:
            paths = [path for entry in entries if is_unfinished(path := Path(entry.path))]
    except OSError:
        return  # the process that writes there will raise the error
    for path in paths:
        with suppress(OSError), _open(path) as descriptor:  # another process has the lock, or we may not remove it
            try_lock(descriptor)
            _remove(path)


def _new(folder: Path, name: str, is_directory: bool) -> tuple[Path, int]:
    """A new file or directory, and a locked file descriptor of it."""
    while True:
        if is_directory:
            path = Path(tempfile.mkdtemp(SUFFIX, f".{name}.", folder)).absolute()
            try:
                descriptor = open_for_lock(path)
            except FileNotFoundError:  # another process removed it before it was opened
                continue
        else:
            descriptor, text = tempfile.mkstemp(SUFFIX, f".{name}.", folder)
            path, descriptor = Path(text).absolute(), keep_for_lock(descriptor)
        with suppress(OSError):  # a file system without locks: nobody will remove it
            lock(descriptor)
        if path.exists():
            return path, descriptor
        close_lock(descriptor)  # another process removed it before it was locked


@contextmanager
def _open(path: Path) -> Iterator[int]:
    descriptor = open_for_lock(path, NO_LINK | WITHOUT_WAITING)
    try:
        yield descriptor
    finally:
        close_lock(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _replace(unfinished: Path, path: Path) -> None:
    while True:
        try:
            os.replace(unfinished, path)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        check_free(path)
        with suppress(FileNotFoundError):  # another process has just removed it
            _exchange(unfinished, path)
            return


def _exchange(unfinished: Path, path: Path) -> None:
    """Exchange the names of two directories; in three steps if the system cannot do it in one."""
    if exchange(unfinished, path):
        return
    old = Path(tempfile.mkdtemp(SUFFIX, f".{path.name}.", path.parent))
    os.replace(path, old)
    os.replace(unfinished, path)
    os.replace(old, unfinished)


def _forget() -> None:
    """After a fork: forget unfinished outputs, which the parent owns."""
    global _changing, _begun
    _changing, _begun = threading.Lock(), set()


at_fork(after_in_child=_forget)
before_end(remove_unfinished)
