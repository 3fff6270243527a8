"""Machine code of kernels as it is stored. LLVM alone loads it: importing numba would take longer than loading it."""

import builtins
import ctypes
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from llvmlite import binding

from phrasebeam.kernels.compilation.numba_parts import extension_module
from phrasebeam.system.optional import c_function

HELPERS = "numba_"  # prefix of the names of numba's functions that machine code calls
LLVM = "llvm."  # prefix of the names of LLVM's own functions
MATHEMATICS = {*vars(math), "round"}  # functions of C; those for float32 have an f at the end


class MachineCode(NamedTuple):
    """The machine code of a kernel for arguments of some kinds, and the names in it that are needed."""

    code: bytes  # an object file
    wrapper: str  # the function that Python calls
    function: str  # the function that other machine code calls
    environment: str  # the variable with the address of a Python object that the wrapper needs
    name: str  # of the kernel
    returns: str  # its return type
    needs_numba: bool  # whether numba is needed to load it


class CompiledKernel(NamedTuple):
    """A kernel in memory, for arguments of some kinds."""

    call: Callable[..., Any]
    address: int  # of its machine code, for calls from other machine code; 0 if there are none
    returns: str


def loaded(stored: MachineCode) -> CompiledKernel:
    """The kernel in memory, from its stored machine code."""
    engine, dynamic_functions = _engine(), extension_module("_dynfunc")
    engine.add_object_file(binding.object_file.ObjectFileRef.from_data(stored.code))
    engine.finalize_object()
    environment = dynamic_functions.Environment({})
    variable = ctypes.c_void_p.from_address(engine.get_global_value_address(stored.environment))
    variable.value = id(environment)
    address = engine.get_function_address(stored.wrapper)
    about = sys.modules[__name__], stored.name, f"machine code of the kernel {stored.name}"
    call = dynamic_functions.make_function(*about, address, environment, (engine,))  # the function keeps the engine
    return CompiledKernel(call, engine.get_function_address(stored.function), stored.returns)


def can_be_loaded(names: Iterable[str]) -> bool:
    """Whether the functions and variables that machine code refers to by these names exist without numba."""
    return all(name.startswith(LLVM) or name in _symbols() or _is_of_process(name) for name in names)


def _is_of_process(name: str) -> bool:
    """Whether C or Python has the function; others that numba loads, such as Intel's, have names beginning with __."""
    return not name.startswith("__") and c_function(name) is not None


@cache
def _engine() -> Any:
    """LLVM's linker of machine code, which must live as long as the process."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name, address in _symbols().items():
        binding.add_symbol(name, address)
    machine = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


@cache
def _symbols() -> dict[str, int]:
    """Addresses for names in machine code, as numba defines them; LLVM finds other functions of C and Python itself."""
    helpers = extension_module("_helperlib").c_helpers | extension_module("_dynfunc").c_helpers
    found = {f"{HELPERS}{name}": address for name, address in helpers.items()}
    # Functions of the C library for which numba was built: it may have others of these names for older programs.
    found |= {name: address for name, address in helpers.items() if {name, name.removesuffix("f")} & MATHEMATICS}
    errors = [one for one in vars(builtins).values() if isinstance(one, type) and issubclass(one, BaseException)]
    return found | {"_Py_NoneStruct": id(None)} | {f"PyExc_{one.__name__}": id(one) for one in errors}


@cache
def target() -> tuple[str, str, str]:
    """The processor for which machine code is made."""
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know the features of this processor
        features = ""
    return binding.get_process_triple(), binding.get_host_cpu_name(), features
