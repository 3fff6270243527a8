"""numba's libraries of kernels. An inner kernel has no machine code, only LLVM code, which its callers include.

numba optimizes each kernel together with everything it calls and makes machine code of it; then it does the same for
each of the kernel's callers, and so on. A kernel called over five levels was compiled five times. Here only kernels
that Python calls are optimized and compiled, each once and together with all inner kernels in it.
"""

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

from phrasebeam.kernels.compilation.quick_numba import UNUSED_PASSES

INNER, OBJECT = "inner", "object"  # kinds of stored libraries


class KernelLibrary(JITCodeLibrary):
    """The machine code of a kernel that Python calls."""

    _bitcode: bytes | None = None  # of a loaded library, until a caller needs it

    @classmethod
    def loaded(cls, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> "KernelLibrary":
        """A library from stored machine code and bitcode. numba would parse the latter: most of the loading time."""
        library = cls(codegen, name)
        library.enable_object_caching()
        library._bitcode = bitcode
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        return library

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """The stored form: name, kind, LLVM's bitcode. The machine code is stored separately."""
        return self.name, OBJECT, self._get_module_for_linking().as_bitcode()

    def machine_code(self) -> bytes:
        """The machine code as an object file."""
        code: bytes = self._get_compiled_object()
        return code

    def external_names(self) -> set[str]:
        """The names of functions and variables that the code uses and does not define."""
        module = self._final_module
        found = (*module.functions, *module.global_variables)
        return {one.name for one in found if one.is_declaration}

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function of the library."""
        if self._bitcode is None:
            address: int = super().get_pointer_to_function(name)
            return address
        return self._codegen._engine.get_function_address(name)  # numba would look the name up in the bitcode

    def _get_module_for_linking(self) -> Any:
        """The module for kernels that call this one."""
        if self._bitcode is not None:
            self._shared_module, self._bitcode = binding.parse_bitcode(self._bitcode), None
        return super()._get_module_for_linking()

    def _optimize_final_module(self) -> None:
        """Optimize once. numba optimizes twice, to remove reference counts, which kernels do not have."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class InnerLibrary(JITCodeLibrary):
    """The code of an inner kernel and of everything it calls, without machine code."""

    @classmethod
    def loaded(cls, codegen: Any, name: str, bitcode: bytes) -> "InnerLibrary":
        """A library from stored bitcode."""
        library = cls(codegen, name)
        library._final_module, library._finalized = binding.parse_bitcode(bitcode), True
        return library

    def finalize(self) -> None:
        """Link the code of everything that the kernel calls with its own."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code, so nothing has an address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """This object: numba stores the address of a Python environment by `set_env` of `codegen`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no machine code."""

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """The stored form: name, kind, LLVM's bitcode."""
        return self.name, INNER, self._get_module_for_linking().as_bitcode()


class KernelCompiler(Compiler):
    """numba's compiler, for kernels that Python calls."""

    library: type[JITCodeLibrary] = KernelLibrary

    def define_pipelines(self) -> Any:
        """numba's passes that kernels need; they use the library that is already there instead of making one."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        pipelines = super().define_pipelines()
        for one in pipelines:
            one.passes = [each for each in one.passes if each[0].__name__ not in UNUSED_PASSES]
        return pipelines


class InnerCompiler(KernelCompiler):
    """numba's compiler, for inner kernels."""

    library = InnerLibrary


def load_result(context: Any, stored: tuple[Any, ...], machine_code: bytes) -> CompileResult:
    """The compiled kernel for which CompileResult._reduce returned `stored`."""
    (name, kind, bitcode), fndesc, environment, signature, *others = stored
    codegen = context.codegen()
    library: JITCodeLibrary
    if kind == INNER:
        library = InnerLibrary.loaded(codegen, name, bitcode)
    else:
        library = KernelLibrary.loaded(codegen, name, machine_code, bitcode)
    object_mode, lifted, annotation, reload_init, environments = others
    return CompileResult(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, fndesc, environment),
        typing_error=None,
        type_annotation=annotation,
        signature=signature,
        objectmode=object_mode,
        lifted=lifted,
        fndesc=fndesc,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )
