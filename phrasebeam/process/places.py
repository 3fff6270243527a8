"""Directories: that of the package, and the cache that a user's runs keep for later ones, with compiled kernels."""

import os
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.resolve().parent  # directory of the package: a checkout, or site-packages


def cache_home() -> Path | None:
    """$PHRASEBEAM_CACHE, or else phrasebeam in the user's cache directory; None if there is no home directory."""
    home = os.environ.get("PHRASEBEAM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "phrasebeam"
    )
    return None if home.startswith("~") else Path(home)


def folder_of(name: str) -> Path:
    """The folder `name` of the package; in a checkout without symbolic links the one beside it, see links.py."""
    return PACKAGE / name if (PACKAGE / name).is_dir() else ROOT / name


def source_files() -> Iterator[Path]:
    """All modules of the package, in arbitrary order."""
    yield from PACKAGE.glob("*.py")
    for entry in PACKAGE.iterdir():
        yield from folder_of(entry.name).glob("**/*.py")
