"""What numba does without for kernels, so that it compiles them in less time: a sixth of it is saved."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

# numba's passes for what kernels do not contain: calls that are inlined before types are known, `literally`, loops over
# tuples of several types, expressions of whole arrays, `raise` with values, functions in functions
UNUSED_PASSES = {"InlineInlinables", "InlineOverloads", "WithLift", "FindLiterallyCalls", "LiteralUnroll"}
UNUSED_PASSES |= {"LiteralPropagationSubPipelinePass", "NopythonRewrites", "RewriteDynamicRaises"}
UNUSED_PASSES |= {"MakeFunctionToJitFunction", "DumpParforDiagnostics", "AnnotateTypes"}
LOCKS = {"numba:compiler_lock", "numba:llvm_lock"}  # events of which each kernel tells all kernels that need it
_start_event, _end_event = event.start_event, event.end_event


def _unless_of_a_lock(tell: Any) -> Any:
    def tell_others(kind: str, *arguments: Any, **options: Any) -> None:
        if kind not in LOCKS:
            tell(kind, *arguments, **options)

    return tell_others


@contextmanager
def quick_compilation() -> Iterator[None]:
    """Let numba compile without the events of its locks and without Python's collector of cyclic garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    event.start_event, event.end_event = _unless_of_a_lock(_start_event), _unless_of_a_lock(_end_event)
    try:
        yield
    finally:
        event.start_event, event.end_event = _start_event, _end_event
        if was_enabled:
            gc.enable()
