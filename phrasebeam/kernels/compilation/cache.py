"""Compiled kernels on disk: a file per kernel and argument types, which is loaded only if it is unchanged.

numba's own cache unpickles and runs whatever its files contain, and only numba can load it. Here each file begins with
a digest of its place and content, belongs to the user or to root, and can be written by nobody else; any other file is
replaced. If no files can be written, kernels are compiled in each run.
"""

import hashlib
import logging
import os
import pickle
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.kernels.compilation.machine_code import CompiledKernel, MachineCode, loaded, target
from phrasebeam.kernels.compilation.sources import DIGEST_DIGITS, cache_directory
from phrasebeam.system.descriptors import open_without_links, others_may_have_written

log = logging.getLogger("phrasebeam")

DIGEST_SIZE = hashlib.sha256().digest_size  # bytes at the beginning of each file
_warned: set[str] = set()
PART = ".part"  # suffix of files while they are written
DAY = 24 * 3600.0  # seconds
DAYS_KEPT = 90
CLEANED = "cleaned"  # file whose modification time is that of the last cleaning


class StoredKernel(NamedTuple):
    """The content of a file: a kernel for arguments of some types."""

    code: MachineCode | None  # None for an inner kernel
    other: bytes  # further data that numba needs, pickled


class KernelFiles:
    """The files of one kernel. Types of arguments are given as text, see argument_kinds.py."""

    def __init__(self, function: Callable[..., Any]):
        code, name = function.__code__, function.__qualname__.replace("<locals>.", "")
        self.source = Path(code.co_filename)
        self.name = f"{self.source.stem}.{name}-{code.co_firstlineno}"

    @cached_property
    def directory(self) -> Path | None:
        """Their directory; None if there is no place for them. Found on demand: digests of sources take time."""
        return cache_directory(self.source)

    def lacks(self, types: str) -> bool:
        """Whether the cache has a place, but no file, for the kernel with arguments of these types."""
        return self.directory is not None and not self._path(self.directory, types).exists()

    def machine_code(self, types: str) -> CompiledKernel | None:
        """The kernel for arguments of these types, loaded; None if numba must load or compile it."""

        def use(stored: StoredKernel) -> CompiledKernel | None:
            return None if stored.code is None or stored.code.needs_numba else loaded(stored.code)

        found: CompiledKernel | None = self.load(types, use)
        return found

    def load(self, types: str, use: Callable[[StoredKernel], Any]) -> Any:
        """The result of `use` for the stored kernel with arguments of these types; None if it must be compiled."""
        if self.directory is None:
            return None
        path = self._path(self.directory, types)
        try:
            result = use(StoredKernel(*pickle.loads(_read(path))))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception as error:  # the digest is right, but something that the file refers to may be missing
            _warn_once("damaged", f"{path}: {_reason(error)}; compiling again what cannot be loaded")
            return None
        mark_used(self.directory)
        return result

    def save(self, types: str, kernel: StoredKernel) -> None:
        """Store the kernel for arguments of these types, if there is a place for it."""
        try:
            if self.directory is None:
                raise OSError("there is no home directory")
            _write(self._path(self.directory, types), pickle.dumps(tuple(kernel)))
            clean_daily(self.directory.parent)
        except OSError as error:
            place = error.filename or self.directory or "no place"
            advice = "kernels are compiled again in each run; PHRASEBEAM_CACHE names another directory for them"
            _warn_once("unwritable", f"{place}: {_reason(error)}; {advice}")

    def _path(self, directory: Path, types: str) -> Path:
        key = hashlib.sha256(repr((types, target())).encode()).hexdigest()[:16]
        return directory / f"{self.name}.{key}.kernel"


def _read(path: Path) -> memoryview:
    """The content of `path`. Raises ValueError if it is damaged or others may have written it; may raise OSError."""
    with open(path, "rb", opener=open_without_links) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        if others_may_have_written(status):
            raise ValueError("others may have written it")
        data = memoryview(file.read())
    if data[:DIGEST_SIZE] != _digest(path, data[DIGEST_SIZE:]):
        raise ValueError("damaged")
    return data[DIGEST_SIZE:]


def _write(path: Path, content: bytes) -> None:
    """Write `content` with its digest, so that other processes see either all of it or nothing. Raises OSError."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, part = tempfile.mkstemp(PART, ".", path.parent)  # only the user can read and write it
    try:
        with open(descriptor, "wb") as file:
            file.write(_digest(path, memoryview(content)) + content)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def _digest(path: Path, content: memoryview) -> bytes:
    """A digest of the content of a file, and of its place, so that no file can be used in place of another."""
    digest = hashlib.sha256(f"{path.parent.name}/{path.name}\n".encode())
    digest.update(content)
    return digest.digest()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _warn_once(problem: str, message: str) -> None:
    """Log `message` if it is the first about this `problem`; it goes to standard error unless logging is set up."""
    if problem not in _warned:
        _warned.add(problem)
        log.warning("kernel cache: %s", message)


def mark_used(directory: Path) -> None:
    """Set the time of a directory from which a kernel was loaded, unless it is today's."""
    with suppress(OSError):  # the cache may be writable for root only
        if _age(directory) > DAY:
            os.utime(directory)


def clean_daily(kernels: Path) -> None:
    """Remove kernels that were not used for DAYS_KEPT days and unfinished files from the cache, at most once a day.

    A process that needs a kernel that another process has removed compiles it again.
    """
    with suppress(OSError):
        cleaned = kernels / CLEANED
        if cleaned.exists() and _age(cleaned) < DAY:
            return
        cleaned.touch()
        for directory in kernels.iterdir():
            if directory.is_dir() and re.fullmatch(rf"[0-9a-f]{{{DIGEST_DIGITS}}}", directory.name):
                _clean(directory)


def _clean(directory: Path) -> None:
    if _age(directory) > DAYS_KEPT * DAY:
        shutil.rmtree(directory, ignore_errors=True)
        return
    for part in directory.glob(f"*{PART}"):  # left by processes that were killed
        if _age(part) > DAY:
            part.unlink()


def _age(path: Path) -> float:
    """Seconds since `path` was changed."""
    return time.time() - path.lstat().st_mtime
