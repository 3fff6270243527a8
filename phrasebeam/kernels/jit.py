"""The decorators of all kernels, functions compiled by numba, and a cache that follows changes of all their sources.

numba's own cache does not notice edits of callees or constants in other files. Ours is a directory named by a digest of
the module's source, of all our modules that it imports, of the options and of the versions of numba and Python.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.registry import CPUDispatcher

from phrasebeam.base.own_modules import ROOT
from phrasebeam.kernels.indices import unchecked_indices

Function = TypeVar("Function", bound=Callable[..., Any])

# Without numba's runtime (_nrt) a kernel cannot allocate, and does not count references to the arrays that it passes
# on, which took 5 ns per array and call, and more where threads share the counters.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# The wrapper that unpacks Python's arguments takes longer to compile than most kernels: 0.5 s for a hundred arrays.
INNER = {"no_cpython_wrapper": True}
OUR_IMPORT = re.compile(r"^\s*(?:from|import) (phrasebeam(?:\.\w+)*)(?: import ([^#\n(]+|\([^)]*\)))?", re.M)


def kernel(function: Function) -> Function:
    """Compile `function` at its first call: without GIL, division as in numpy, cached until a source it uses changes.

    A kernel fills arrays that its caller allocated; it cannot allocate arrays. Indices must not be negative, except
    constants.
    """
    return _compile(function, OPTIONS)


def inner_kernel(function: Function) -> Function:
    """A kernel that only kernels call (Python only with NUMBA_DISABLE_JIT); it compiles in half the time."""
    return _inner(_compile(function, OPTIONS | INNER))


def inlined_kernel(function: Function) -> Function:
    """An inner kernel that is inlined into every caller: for hot loops, where passing tuples of arrays costs 50 ns."""
    return _inner(_compile(function, OPTIONS | INNER | {"forceinline": True}))


class _KernelDispatcher(CPUDispatcher):
    """A kernel, compiled without support for negative indices."""

    def compile(self, sig: Any) -> Any:
        with unchecked_indices():
            return super().compile(sig)


class _InnerDispatcher(_KernelDispatcher):
    """A kernel without a Python wrapper: calling it from Python would follow a null pointer, so raises TypeError."""

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is called by kernels only; decorate it with @kernel to call it here")


def _inner(function: Function) -> Function:
    if isinstance(function, CPUDispatcher):  # not where compilation is switched off
        function.__class__ = _InnerDispatcher
    return function


def direct(function: Function) -> Function:
    """The kernel `function` with less overhead, for arguments that have the same types in every call.

    numba examines the types of all arguments in each call, 30 us for a hundred arrays; the function returned does so in
    its first call only, and later checks just the item sizes of arrays (TypeError).
    """
    if not isinstance(function, CPUDispatcher):
        return function
    compiled: list[Callable[..., Any]] = []

    def call(*arguments: Any) -> Any:
        if compiled:
            return compiled[0](*arguments)
        result = function(*arguments)
        compiled.append(next(iter(function.overloads.values())).entry_point)
        return result

    return cast(Function, call)


def _compile(function: Function, options: dict[str, Any]) -> Function:
    user_directory = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory(Path(function.__code__.co_filename)))
    try:
        compiled = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = user_directory
    if isinstance(compiled, CPUDispatcher):  # not where compilation is switched off
        compiled.__class__ = _KernelDispatcher
    return compiled


def cache_directory(source: Path) -> Path:
    """Directory of the compiled kernels of module `source`, in $PHRASEBEAM_CACHE or else the user's cache directory."""
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
    """The file `source` and all files of phrasebeam that it imports, directly or indirectly."""
    sources, pending = set(), [source]
    while pending:
        path = pending.pop()
        if path not in sources:
            sources.add(path)
            pending += _imports(path)
    return sources


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    paths = []
    for module, names in OUR_IMPORT.findall(source.read_text(encoding="utf-8")):
        base = ROOT / module.replace(".", "/")
        candidates = [base.with_suffix(".py"), base / "__init__.py"]
        candidates += [base / f"{name}.py" for name in re.findall(r"\w+", names)]
        paths += [path.resolve() for path in candidates if path.exists()]
    return tuple(paths)
