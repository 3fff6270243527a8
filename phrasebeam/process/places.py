"""The directories of the package and of what this user's runs keep for later ones: compiled kernels."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # directory of the package: a checkout, or site-packages


def cache_home() -> Path | None:
    """$PHRASEBEAM_CACHE, or else phrasebeam in the user's cache directory; None if there is no home directory."""
    home = os.environ.get("PHRASEBEAM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "phrasebeam"
    )
    return None if home.startswith("~") else Path(home)
