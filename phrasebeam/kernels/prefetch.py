"""Prefetch hints to the processor, so that several rows of large tables are read from memory at the same time."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1  # arguments of llvm.prefetch


def _prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """prefetch(array, row), in kernels: a hint that array[row] will be read soon; `row` may be out of bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        index = builder.sext(arguments[1], stride.type) if arguments[1].type != stride.type else arguments[1]
        pointer = cgutils.pointer_add(builder, view.data, builder.mul(stride, index))
        byte_pointer = ir.IntType(8).as_pointer()
        pointer = builder.bitcast(pointer, byte_pointer)
        int32 = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte_pointer, int32, int32, int32]), "llvm.prefetch.p0"
        )
        builder.call(function, [pointer, int32(READ), int32(KEEP), int32(DATA)])
        return context.get_dummy_value()

    return numba.types.void(array, row), generate


if numba.config.DISABLE_JIT:

    def prefetch(array: Any, row: Any) -> None:
        """Do nothing: the hint has no effect on results."""

else:
    prefetch = intrinsic(_prefetch)
