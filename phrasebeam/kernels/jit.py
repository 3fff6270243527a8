"""The decorators of all kernels: functions compiled by numba, and cached until any of their sources changes.

numba is imported only when a kernel must be compiled: kernels in the cache are loaded without it.
"""

import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

from phrasebeam.kernels.compilation.argument_kinds import UnknownKindError, kinds_of, spelled
from phrasebeam.kernels.compilation.cache import KernelFiles
from phrasebeam.kernels.compilation.machine_code import CompiledKernel
from phrasebeam.kernels.compilation.numba_parts import compiles

Function = TypeVar("Function", bound=Callable[..., Any])

IS_COMPILED = compiles()  # if kernels are not compiled, there is no machine code
_loading = threading.RLock()


class Kernel:
    """A function that calls machine code for the kinds of its arguments, which is loaded or compiled when needed."""

    def __init__(self, function: Callable[..., Any], is_inner: bool = False, is_inlined: bool = False):
        update_wrapper(self, function)
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.py_func, self.is_inner, self.is_inlined = function, is_inner, is_inlined
        self.versions: dict[tuple[Any, ...], CompiledKernel] = {}
        self.n_loaded = 0  # versions that were loaded without numba

    def __call__(self, *arguments: Any) -> Any:
        try:
            kinds = kinds_of(arguments)
        except UnknownKindError:
            return self.dispatcher(*arguments)
        version = self.versions.get(kinds)
        return (version or self.version(kinds)).call(*arguments)

    def version(self, kinds: tuple[Any, ...]) -> CompiledKernel:
        """The machine code for arguments of these kinds."""
        with _loading:
            if kinds not in self.versions:
                self.versions[kinds] = self._loaded(kinds) or self._compiled(kinds)
        return self.versions[kinds]

    def is_missing(self, kinds: tuple[Any, ...]) -> bool:
        """Whether the machine code for arguments of these kinds should be in the cache, but is not."""
        return kinds not in self.versions and self.files is not None and self.files.lacks(spelled(kinds))

    @cached_property
    def files(self) -> KernelFiles | None:
        """Where its machine code is stored; None for closures: no file could tell the values of enclosing variables."""
        return KernelFiles(self.py_func) if self.py_func.__closure__ is None else None

    @cached_property
    def dispatcher(self) -> Any:
        """numba's dispatcher of the function."""
        from phrasebeam.kernels.compilation.dispatchers import dispatcher_of

        return dispatcher_of(self.py_func, self.files, self.is_inner, self.is_inlined)

    @property
    def signatures(self) -> set[str]:
        """The types of arguments for which the kernel was loaded or compiled, for Python or within other kernels."""
        loaded = set(map(spelled, self.versions))
        if "dispatcher" not in vars(self):
            return loaded
        from phrasebeam.kernels.compilation.structs import spelled_types

        return loaded | set(map(spelled_types, self.dispatcher.signatures))

    @property
    def _numba_type_(self) -> Any:
        """The type that numba gives the kernel in other kernels; numba looks for it by this name."""
        return self.dispatcher._numba_type_

    def _loaded(self, kinds: tuple[Any, ...]) -> CompiledKernel | None:
        found = self.files.machine_code(spelled(kinds)) if self.files else None
        self.n_loaded += found is not None
        return found

    def _compiled(self, kinds: tuple[Any, ...]) -> CompiledKernel:
        from phrasebeam.kernels.compilation.dispatchers import compiled

        return compiled(self.dispatcher, kinds)

    def __reduce__(self) -> str:
        return self.__qualname__


class _InnerKernel(Kernel):
    """A kernel that only kernels call: it has no machine code of its own."""

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__} is for kernels only; decorate it with @kernel to call it here")


def kernel(function: Function) -> Function:
    """Compile `function` at its first call: without the GIL, division as in numpy, cached until a source changes.

    A kernel fills arrays that its caller allocated; it cannot allocate arrays. Indices must not be negative, except
    constants.
    """
    return cast(Function, Kernel(function)) if IS_COMPILED else function


def inner_kernel(function: Function) -> Function:
    """A kernel that only kernels call (Python only with NUMBA_DISABLE_JIT); it is compiled within its callers."""
    return cast(Function, _InnerKernel(function, is_inner=True)) if IS_COMPILED else function


def inlined_kernel(function: Function) -> Function:
    """An inner kernel that is inlined into every caller: for the smallest kernels, and for the hottest loops."""
    return cast(Function, _InnerKernel(function, is_inner=True, is_inlined=True)) if IS_COMPILED else function


def hot_kernel(function: Function) -> Function:
    """A kernel for Python and for kernels, into which it is inlined as an inlined kernel."""
    return cast(Function, Kernel(function, is_inlined=True)) if IS_COMPILED else function


def direct(function: Function) -> Function:
    """The kernel `function` with less overhead, for arguments that have the same types in every call.

    A kernel examines the types of all arguments in each call, which takes 30 us for a hundred arrays. The function
    returned does so in its first call only; later it checks only the item sizes of arrays (TypeError).
    """
    if not isinstance(function, Kernel):
        return function
    compiled: list[Callable[..., Any]] = []

    def call(*arguments: Any) -> Any:
        if compiled:
            return compiled[0](*arguments)
        result = function(*arguments)
        compiled.extend(version.call for version in function.versions.values())
        return result

    return cast(Function, call)


class Intrinsic:
    """A function that only kernels can call; its code is in compilation/intrinsics.py, under its name."""

    def __init__(self, name: str):
        self.__name__ = name

    @property
    def _numba_type_(self) -> Any:
        from phrasebeam.kernels.compilation.intrinsics import type_of_intrinsic

        return type_of_intrinsic(self.__name__)

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__} is for kernels only")
