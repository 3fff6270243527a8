"""A hint to the processor: this row will be read soon. Rows of large tables then come in side by side, not in turn."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1  # arguments of llvm.prefetch


def _prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """prefetch(array, row): row `row` of an array that kernels have; there need not be one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(found.strides, 0)
        index = builder.sext(arguments[1], stride.type) if arguments[1].type != stride.type else arguments[1]
        pointer = cgutils.pointer_add(builder, found.data, builder.mul(stride, index))
        byte = ir.IntType(8).as_pointer()
        pointer = builder.bitcast(pointer, byte)
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        builder.call(function, [pointer, number(READ), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return numba.types.void(array, row), generate


if numba.config.DISABLE_JIT:

    def prefetch(array: Any, row: Any) -> None:
        """Nothing."""

else:
    prefetch = intrinsic(_prefetch)
