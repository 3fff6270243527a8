"""The part of kernels that uses numba: it compiles them, and stores them in our cache in numba's place.

Kernels are compiled without numba's support for negative indices, which costs some 12 % of the time of a search. For
each signed index, numba compiles code that counts from the end if the index is negative, and has no option against
that. So its function for that is replaced, which has an effect only while kernels are compiled. Indices in kernels must
not be negative, except constants; with bounds checks, others raise IndexError.

A user who waits for the first run of a command sees that kernels are being compiled, and how many have been compiled.
"""

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.event import Event, Listener, register
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.np import arrayobj

from phrasebeam.base.progress import compilation_bar
from phrasebeam.kernels.compilation import intrinsics  # noqa: F401  # numba needs them while it compiles
from phrasebeam.kernels.compilation.argument_kinds import UnknownKindError, kind_of
from phrasebeam.kernels.compilation.cache import KernelFiles, StoredKernel
from phrasebeam.kernels.compilation.libraries import InnerCompiler, KernelCompiler, KernelLibrary, load_result
from phrasebeam.kernels.compilation.machine_code import CompiledKernel, MachineCode, can_be_loaded
from phrasebeam.kernels.compilation.quick_numba import quick_compilation
from phrasebeam.kernels.compilation.resolved_calls import remember_resolved_calls
from phrasebeam.kernels.compilation.structs import spelled_types, type_of
from phrasebeam.process.starting_line import COMPILING

# Without numba's runtime (_nrt) a kernel cannot allocate memory, and does not count references to arrays that it passes
# on. Counting took 5 ns per array and call, and more if threads share the counters.
OPTIONS = {"nopython": True, "boundscheck": None, "nogil": True, "error_model": "numpy"}
OPTIONS |= {"_nrt": False, "no_cfunc_wrapper": True}
INNER = {"no_cpython_wrapper": True}  # without the wrapper that unpacks Python's arguments
_local = threading.local()  # depth: number of unchecked_indices contexts that this thread is in
_numba_fix_integer_index = arrayobj.fix_integer_index


def _fix_integer_index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """Code for `index` as intp, called by numba; within unchecked_indices the index is used as it is."""
    if getattr(_local, "depth", 0) == 0 or not index_type.signed or isinstance(index, ir.Constant):
        return _numba_fix_integer_index(context, builder, index_type, index, size)
    return context.cast(builder, index, index_type, types.intp)


arrayobj.fix_integer_index = _fix_integer_index
remember_resolved_calls()


@contextmanager
def unchecked_indices() -> Iterator[None]:
    """Within this context, code that this thread compiles does not support negative indices, except constants."""
    _local.depth = getattr(_local, "depth", 0) + 1
    try:
        yield
    finally:
        _local.depth -= 1


class CompilationProgress(Listener):
    """Listens to numba's compilations of dispatchers of one class; numba's lock allows one compilation at a time.

    On the terminal of a command it shows a bar while kernels are compiled; elsewhere the first compilation is logged.
    """

    def __init__(self, dispatcher_class: type):
        self.dispatcher_class = dispatcher_class
        self.n_open, self.n_compiled, self.seconds, self.start = 0, 0, 0.0, 0.0
        self.bar = ExitStack()

    def on_start(self, event: Event) -> None:
        """Show the bar when a compilation begins that is not part of the compilation of another kernel."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        if self.n_open == 0:
            self.start = time.perf_counter()
            self.advance = self.bar.enter_context(compilation_bar(COMPILING, self.n_compiled, self.seconds))
        self.n_open += 1

    def on_end(self, event: Event) -> None:
        """Count a compiled kernel; remove the bar if it was not compiled for another kernel."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        self.n_open, self.n_compiled = self.n_open - 1, self.n_compiled + 1
        self.advance(1)
        if self.n_open == 0:
            self.seconds += time.perf_counter() - self.start
            self.bar.close()


class _KernelDispatcher(CPUDispatcher):
    """A kernel, compiled without support for negative indices, to which Python passes NamedTuples by reference."""

    def compile(self, sig: Any) -> Any:
        with unchecked_indices():
            return super().compile(sig)

    def typeof_pyval(self, val: Any) -> Any:
        try:
            return type_of(kind_of(val))
        except UnknownKindError:
            return super().typeof_pyval(val)


register("numba:compile", CompilationProgress(_KernelDispatcher))


class _DispatcherCache(NullCache):
    """The files of a kernel behind numba's interface of a cache."""

    def __init__(self, files: KernelFiles):
        self.files = files

    @property
    def cache_path(self) -> str:
        """The directory, which numba shows in its statistics."""
        return str(self.files.directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for arguments of the types `sig`; None if it must be compiled."""

        def use(stored: StoredKernel) -> CompileResult:
            code = stored.code.code if stored.code else b""
            return load_result(target_context, pickle.loads(stored.other), code)

        return self.files.load(_text_of(sig), use)

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Store the compiled kernel `data` for arguments of the types `sig`, if there is a place for it."""
        if not data.library.has_dynamic_globals:  # these are addresses in this process
            self.files.save(_text_of(sig), StoredKernel(_machine_code(data), dumps(data._reduce())))


def _text_of(sig: Any) -> str:
    return spelled_types(normalize_signature(sig)[0])


def _machine_code(result: CompileResult) -> MachineCode | None:
    """The machine code of a kernel; None for an inner kernel."""
    library, about = result.library, result.fndesc
    if not isinstance(library, KernelLibrary):
        return None
    names = about.llvm_cpython_wrapper_name, about.llvm_func_name, result.target_context.get_env_name(about)
    name, returns = about.qualname.split(".")[-1], str(result.signature.return_type)
    is_usual = not (result.environment.consts or result.reload_init or result.lifted)
    needs_numba = not (is_usual and can_be_loaded(library.external_names()))
    return MachineCode(library.machine_code(), *names, name, returns, needs_numba)


def dispatcher_of(function: Callable[..., Any], files: KernelFiles | None, is_inner: bool, is_inlined: bool) -> Any:
    """numba's dispatcher of a kernel; `files`: where it is stored, or None."""
    # numba would inline a kernel that has no such option if the first kernel that needs it is inlined
    options = OPTIONS | (INNER if is_inner else {}) | {"forceinline": is_inlined}
    compiler = InnerCompiler if is_inner else KernelCompiler
    dispatcher = _KernelDispatcher(function, targetoptions=options, pipeline_class=compiler)
    if files:
        dispatcher._cache = _DispatcherCache(files)
    return dispatcher


def compiled(dispatcher: Any, kinds: tuple[Any, ...]) -> CompiledKernel:
    """The kernel for arguments of these kinds; it is compiled, or loaded if numba is needed for loading it."""
    argument_types = tuple(map(type_of, kinds))
    with quick_compilation():
        dispatcher.compile(argument_types)
    result = dispatcher.overloads[argument_types]
    address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return CompiledKernel(result.entry_point, int(address), str(result.signature.return_type))
