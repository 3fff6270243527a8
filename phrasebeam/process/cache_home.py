"""The directory of all that this user's runs keep for later ones: compiled kernels."""

import os
from pathlib import Path


def cache_home() -> Path | None:
    """$PHRASEBEAM_CACHE, or else phrasebeam in the user's cache directory; None if there is no home directory."""
    home = os.environ.get("PHRASEBEAM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "phrasebeam"
    )
    return None if home.startswith("~") else Path(home)
