"""The decorators of all kernels, functions compiled by numba and cached until any of their sources changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.event import register
from numba.core.registry import CPUDispatcher

from phrasebeam.kernels.cache import KernelCache
from phrasebeam.kernels.compilation import CompilationProgress
from phrasebeam.kernels.indices import unchecked_indices
from phrasebeam.kernels.libraries import InnerCompiler
from phrasebeam.kernels.sources import cache_directory
from phrasebeam.kernels.structs import type_of

Function = TypeVar("Function", bound=Callable[..., Any])

# Without numba's runtime (_nrt) a kernel cannot allocate, and does not count references to the arrays that it passes
# on, which took 5 ns per array and call, and more where threads share the counters.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# Without the wrapper that unpacks Python's arguments, and without machine code of its own.
INNER = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call: without GIL, division as in numpy, cached until a source it uses changes.

    A kernel fills arrays that its caller allocated; it cannot allocate arrays. Indices must not be negative, except
    constants.
    """
    return _compile(function, OPTIONS)


def inner_kernel(function: Function) -> Function:
    """A kernel that only kernels call (Python only with NUMBA_DISABLE_JIT), compiled within these alone."""
    return _inner(_compile(function, OPTIONS | INNER))


def inlined_kernel(function: Function) -> Function:
    """An inner kernel that is inlined into every caller: for the smallest, and for the hottest loops."""
    return _inner(_compile(function, OPTIONS | INNER | {"forceinline": True}))


class _KernelDispatcher(CPUDispatcher):
    """A kernel, compiled without support for negative indices, which Python gives NamedTuples by reference."""

    def compile(self, sig: Any) -> Any:
        with unchecked_indices():
            return super().compile(sig)

    def typeof_pyval(self, val: Any) -> Any:
        return type_of(val)


register("numba:compile", CompilationProgress(_KernelDispatcher))


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
    compiled = numba.njit(**options)(function)
    if isinstance(compiled, CPUDispatcher):  # not where compilation is switched off
        compiled.__class__ = _KernelDispatcher
        if function.__closure__ is None:  # no file tells what its variables hold
            compiled._cache = KernelCache(function, cache_directory(Path(function.__code__.co_filename)))
    return compiled
