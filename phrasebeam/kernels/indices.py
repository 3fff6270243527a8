"""Indices in kernels are taken as they are: none is negative, but for constants.

numba makes each index that is signed count from the end where it is below 0, which is some 12 % of the time of a
search, and has no option against that. So its function for that is replaced while kernels are compiled, and only then.
With bounds checks, a negative index is an error.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

_local = threading.local()
_count_from_end = arrayobj.fix_integer_index


def _fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    if getattr(_local, "depth", 0) == 0 or not kind.signed or isinstance(index, ir.Constant):
        return _count_from_end(context, builder, kind, index, size)
    return context.cast(builder, index, kind, types.intp)


arrayobj.fix_integer_index = _fix_integer_index


@contextmanager
def unchecked_indices() -> Iterator[None]:
    """While this thread compiles a kernel."""
    _local.depth = getattr(_local, "depth", 0) + 1
    try:
        yield
    finally:
        _local.depth -= 1
