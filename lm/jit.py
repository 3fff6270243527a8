"""The one decorator of all kernels, and the cache that knows what a kernel depends on.

numba's own cache does not see edits of callees or constants in other files. Ours lies in a directory named by
a digest of the module's source, of all our modules that it imports, of the options and of numba's version.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# Without numba's runtime (_nrt) a kernel cannot allocate, and does not count references to the arrays that it passes
# on: that took 5 ns an array and call, and more where threads share the counters.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
ROOT = Path(__file__).resolve().parent.parent
OUR_IMPORT = re.compile(
    r"^\s*(?:from|import) ((?:lm|decoder|training)(?:\.\w+)*)(?: import ([^#\n(]+|\([^)]*\)))?", re.M
)


def kernel(function: Function) -> Function:
    """Compile `function` on its first call: no GIL, numpy's division, cached until a source that it uses changes.

    A kernel fills arrays that its caller allocated; it must not make any of its own.
    """
    return _compile(function, OPTIONS)


def inlined_kernel(function: Function) -> Function:
    """A kernel that becomes part of every caller: for hot loops, where handing over tuples of arrays costs 50 ns."""
    return _compile(function, OPTIONS | {"forceinline": True})


def _compile(function: Function, options: dict[str, Any]) -> Function:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory(Path(function.__code__.co_filename)))
    try:
        return numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = before


def cache_directory(source: Path) -> Path:
    """Where the kernels of the module `source` are cached: $PHRASEBEAM_CACHE, else the user's cache directory."""
    home = os.environ.get("PHRASEBEAM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "phrasebeam"
    )
    return Path(home) / "kernels" / _digest(source.resolve())


@cache
def _digest(source: Path) -> str:
    digest = hashlib.sha256()
    digest.update(repr((sorted(OPTIONS.items()), numba.__version__, numba.config.BOUNDSCHECK, sys.version)).encode())
    for path in sorted(sources_of(source)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources_of(source: Path) -> set[Path]:
    """`source` and all files of our packages that it imports, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return found


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    paths = []
    for module, names in OUR_IMPORT.findall(source.read_text(encoding="utf-8")):
        base = ROOT / module.replace(".", "/")
        candidates = [base.with_suffix(".py"), base / "__init__.py"]
        candidates += [base / f"{name}.py" for name in re.findall(r"\w+", names)]
        paths += [path for path in candidates if path.exists()]
    return tuple(paths)
