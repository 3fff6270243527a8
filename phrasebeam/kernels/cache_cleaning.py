"""Keeping the cache of kernels small: directories of sources that nobody has run for long are removed, once a day."""

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

from phrasebeam.kernels.sources import DIGEST_DIGITS

PART = ".part"  # ends the names of files while they are written
DAY = 24 * 3600.0  # seconds
DAYS_KEPT = 90
CLEANED = "cleaned"  # file whose time is that of the last cleaning


def mark_used(directory: Path) -> None:
    """Set the time of a directory from which a kernel was loaded, unless it is of today."""
    with suppress(OSError):  # a cache that only root can write
        if _age(directory) > DAY:
            os.utime(directory)


def clean_daily(kernels: Path) -> None:
    """Remove from the cache `kernels` what was not used for DAYS_KEPT days, and unfinished files, at most once a day.

    A process that needs what another removes compiles it again.
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
    for part in directory.glob(f"*{PART}"):  # of processes that were killed
        if _age(part) > DAY:
            part.unlink()


def _age(path: Path) -> float:
    """Seconds since `path` was changed."""
    return time.time() - path.lstat().st_mtime
