"""A line and status 2 when the system or C++ ends a process in a way that Python does not notice or cannot handle.

These are SIGBUS, when a mapped file has lost the page that is read, and std::terminate, when C++ code, such as LLVM's,
has no more memory. Either may happen at any place, so the handler must be a few machine instructions, made by LLVM.
"""

import ctypes
import os
from typing import Any

from phrasebeam.process.interruption import CLEAR_LINE, SHOW_CURSOR
from phrasebeam.process.system_errors import NO_MEMORY
from phrasebeam.system.optional import c_function
from phrasebeam.system.signals import LOST_PAGE

NO_PAGE = (
    "a file of the model or of the work was cut short while it was read, or its disk fails or is full (SIGBUS); "
    "restore it, and run the same command again"
)
STATUS = 2
SET_TERMINATE = "_ZSt13set_terminatePFvvE"  # std::set_terminate(void (*)())

_code: Any = None  # must live as long as the process


def end_by_fatal_errors(name: str) -> None:
    """Let such errors end this process, and processes forked from it, as said above; `name` begins the line.

    If the system has no `signal` function in C, or C++ is not GNU's, the errors end the process as before.
    """
    global _code
    if LOST_PAGE is None:  # such a system does not have the functions that the code calls, either
        return
    clear = CLEAR_LINE + SHOW_CURSOR if os.isatty(2) else ""
    texts = {"no_page": NO_PAGE, "no_memory": NO_MEMORY}
    _code = _compiled({function: f"{clear}{name}: {text}\n".encode() for function, text in texts.items()})
    _call(c_function("signal"), int(LOST_PAGE), _code.get_function_address("no_page"))
    _call(c_function(SET_TERMINATE, "libstdc++.so.6"), _code.get_function_address("no_memory"))


def _call(function: Any, *arguments: int) -> None:
    if function is None:
        return
    function.argtypes, function.restype = [ctypes.c_size_t] * len(arguments), None
    function(*arguments)


def _compiled(texts: dict[str, bytes]) -> Any:
    """Machine code of functions, by name; each writes its text to standard error and ends the process."""
    from llvmlite import binding, ir  # not needed by some commands

    module = ir.Module()
    is_ending = ir.GlobalVariable(module, ir.IntType(32), "is_ending")
    is_ending.initializer = ir.Constant(ir.IntType(32), 0)
    for name, text in texts.items():
        _add_function(module, name, text, is_ending)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    code = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    code.finalize_object()
    return code


def _add_function(module: Any, name: str, text: bytes, is_ending: Any) -> None:
    """if exchange(is_ending, 1): forever pause(); write(2, text, size); _exit(2). So only one thread writes."""
    from llvmlite import ir

    number, size, pointer = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
    begin, wait, end = (function.append_basic_block() for _ in range(3))
    builder = ir.IRBuilder(begin)
    was_ending = builder.atomic_rmw("xchg", is_ending, number(1), "seq_cst")
    builder.cbranch(builder.icmp_unsigned("!=", was_ending, number(0)), wait, end)
    builder.position_at_end(wait)
    builder.call(_external(module, "pause", number), [])
    builder.branch(wait)
    builder.position_at_end(end)
    stored = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(text)), f"{name}_text")
    stored.initializer, stored.global_constant = ir.Constant(stored.value_type, bytearray(text)), True
    write = _external(module, "write", size, number, pointer, size)
    builder.call(write, [number(2), builder.bitcast(stored, pointer), size(len(text))])
    builder.call(_external(module, "_exit", ir.VoidType(), number), [number(STATUS)])
    builder.unreachable()


def _external(module: Any, name: str, result: Any, *arguments: Any) -> Any:
    """A function of the C library that may be called in a signal handler."""
    from llvmlite import ir

    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, arguments), name)
