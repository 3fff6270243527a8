"""The decorators of all kernels, functions compiled by numba and cached until any of their sources changes.

Kernels are compiled without numba's support for negative indices, which costs some 12 % of the time of a search. numba
compiles each signed index to count from the end if it is negative, and has no option against that. So its function for
that is replaced, with effect only while kernels are compiled. Indices in kernels must not be negative, except
constants; with bounds checks, others raise IndexError.

Whoever waits for the first run of a command sees that kernels are being compiled, and how many were.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import types
from numba.core.event import Event, Listener, register
from numba.core.registry import CPUDispatcher
from numba.np import arrayobj

from phrasebeam.base.progress import compilation_bar
from phrasebeam.kernels.cache import KernelCache
from phrasebeam.kernels.libraries import InnerCompiler, KernelCompiler
from phrasebeam.kernels.resolved_calls import remember_resolved_calls
from phrasebeam.kernels.structs import type_of
from phrasebeam.process.starting_line import COMPILING

Function = TypeVar("Function", bound=Callable[..., Any])

# Without numba's runtime (_nrt) a kernel cannot allocate, and does not count references to the arrays that it passes
# on, which took 5 ns per array and call, and more where threads share the counters.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
OPTIONS |= {"pipeline_class": KernelCompiler}
# Without the wrapper that unpacks Python's arguments, and without machine code of its own.
INNER = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
_local = threading.local()  # depth: number of unchecked_indices contexts that this thread is in
_numba_fix_integer_index = arrayobj.fix_integer_index


def _fix_integer_index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """Code for `index` as intp, as numba calls it: the index as it is, within unchecked_indices."""
    if getattr(_local, "depth", 0) == 0 or not index_type.signed or isinstance(index, ir.Constant):
        return _numba_fix_integer_index(context, builder, index_type, index, size)
    return context.cast(builder, index, index_type, types.intp)


arrayobj.fix_integer_index = _fix_integer_index
remember_resolved_calls()


@contextmanager
def unchecked_indices() -> Iterator[None]:
    """Within this context, what this thread compiles does not support negative indices, except constants."""
    _local.depth = getattr(_local, "depth", 0) + 1
    try:
        yield
    finally:
        _local.depth -= 1


class CompilationProgress(Listener):
    """Listens to numba's compilations of dispatchers of one class; numba's lock admits one at a time.

    On the terminal of a command: a bar while kernels are compiled; elsewhere the first is logged.
    """

    def __init__(self, dispatcher_class: type):
        self.dispatcher_class = dispatcher_class
        self.n_open, self.n_compiled, self.seconds, self.start = 0, 0, 0.0, 0.0
        self.bar = ExitStack()

    def on_start(self, event: Event) -> None:
        """Show the bar when the compilation of a kernel begins that no other kernel called."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        if self.n_open == 0:
            self.start = time.perf_counter()
            self.advance = self.bar.enter_context(compilation_bar(COMPILING, self.n_compiled, self.seconds))
        self.n_open += 1

    def on_end(self, event: Event) -> None:
        """Count a kernel, and remove the bar if no other waits for it."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        self.n_open, self.n_compiled = self.n_open - 1, self.n_compiled + 1
        self.advance(1)
        if self.n_open == 0:
            self.seconds += time.perf_counter() - self.start
            self.bar.close()


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
        raise TypeError(f"{self.py_func.__name__} is for kernels only; decorate it with @kernel to call it here")


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
            compiled._cache = KernelCache(function)
    return compiled
