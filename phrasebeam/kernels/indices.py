"""Compiling kernels without numba's support for negative indices, which costs some 12 % of the time of a search.

numba compiles each signed index to count from the end if it is negative, and has no option against that. So its
function for that is replaced, with effect only while kernels are compiled. Indices in kernels must not be negative,
except constants; with bounds checks, others raise IndexError.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

_local = threading.local()  # depth: number of unchecked_indices contexts that this thread is in
_numba_fix_integer_index = arrayobj.fix_integer_index


def _fix_integer_index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """Code for `index` as intp, as numba calls it: the index as it is, within unchecked_indices."""
    if getattr(_local, "depth", 0) == 0 or not index_type.signed or isinstance(index, ir.Constant):
        return _numba_fix_integer_index(context, builder, index_type, index, size)
    return context.cast(builder, index, index_type, types.intp)


arrayobj.fix_integer_index = _fix_integer_index


@contextmanager
def unchecked_indices() -> Iterator[None]:
    """Within this context, what this thread compiles does not support negative indices, except constants."""
    _local.depth = getattr(_local, "depth", 0) + 1
    try:
        yield
    finally:
        _local.depth -= 1
