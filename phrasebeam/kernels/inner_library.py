"""Code of inner kernels: kept as LLVM's language for the kernels that call them, without machine code of its own.

numba optimizes each kernel together with all that it calls, and makes machine code of both, for the caller's caller
once more, and so on. What only kernels call is optimized here together with the outermost kernel alone.
"""

import os
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

KIND = "inner"  # of a library on disk
MODE = os.environ.get("INNER_MODE", "none")

class InnerLibrary(JITCodeLibrary):
    """The code of one inner kernel and of all that it calls."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if MODE == "cheap":
            pm, pb = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap")
            pm.run(self._final_module, pb)
        elif MODE == "full":
            self._optimize_final_module()
        elif MODE == "o1":
            pm, pb = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, opt=1, cost="cheap")
            pm.run(self._final_module, pb)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        pass

    def serialize_using_object_code(self) -> Any:
        return self.name, KIND, self._get_module_for_linking().as_bitcode()


class InnerCompiler(Compiler):
    def define_pipelines(self) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = InnerLibrary(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()


def rebuild(context, libdata, *rest):
    name, kind, bitcode = libdata
    if kind != KIND:
        return CompileResult._rebuild(context, libdata, *rest)
    library = InnerLibrary(context.codegen(), name)
    library._final_module = binding.parse_bitcode(bitcode)
    library._finalized = True
    fndesc, env, signature, objectmode, lifted, typeann, reload_init, referenced_envs = rest
    return CompileResult(
        target_context=context, typing_context=context.typing_context, library=library, environment=env,
        entry_point=context.get_executable(library, fndesc, env), fndesc=fndesc, type_annotation=typeann, signature=signature, objectmode=objectmode,
        lifted=lifted, typing_error=None, call_helper=None, metadata=None, reload_init=reload_init, referenced_envs=referenced_envs)
