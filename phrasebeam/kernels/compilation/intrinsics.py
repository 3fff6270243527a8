"""Functions for kernels that numba does not have, written in LLVM's language: see compiled_calls.py, prefetch.py."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from phrasebeam.kernels.compilation.argument_kinds import layout
from phrasebeam.kernels.compilation.structs import ADDRESS

READ, KEEP, CACHED_DATA = 0, 3, 1  # arguments of llvm.prefetch


def _start(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of array[0]."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, ADDRESS)


def _image_at(_typing: Any, struct: Any, image: Any) -> Any:
    """image_at(struct, image), in kernels: the `image` (int64[S]), of the type of `struct`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _start(context, builder, signature.args[1], arguments[1])

    return struct(struct, image), generate


def _write_image(_typing: Any, struct: Any, image: Any) -> Any:
    """write_image(struct, image), in kernels: write an image of `struct` to `image` (int64[S])."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = ir.Constant(ir.IntType(64), layout(signature.args[0].kind)[1])
        place = _start(context, builder, signature.args[1], arguments[1])
        cgutils.raw_memcpy(builder, place, arguments[0], size, 1)
        return context.get_dummy_value()

    return types.void(struct, image), generate


def _call_kernel(_typing: Any, address: Any, arguments: Any) -> Any:
    """call_kernel(address, arguments), in kernels: the result of the kernel at `address` for a tuple of arguments."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = tuple(signature.args[1])
        code = context.call_conv.get_function_type(types.int64, kinds).as_pointer()
        function = builder.inttoptr(values[0], code)
        given = cgutils.unpack_tuple(builder, values[1])
        return context.call_conv.call_function(builder, function, types.int64, kinds, given)[1]

    return types.int64(types.int64, arguments), generate


def _address_in(_typing: Any, array: Any, row: Any) -> Any:
    """address_in(array, row), in kernels: the address (int64) of array[row], which may be one after the last row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        offset = builder.mul(builder.extract_value(view.strides, 0), arguments[1])
        place = cgutils.pointer_add(builder, builder.bitcast(view.data, ADDRESS), offset, ADDRESS)
        return builder.ptrtoint(place, ir.IntType(64))

    return types.int64(array, types.intp), generate


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
        builder.call(function, [pointer, int32(READ), int32(KEEP), int32(CACHED_DATA)])
        return context.get_dummy_value()

    return types.void(array, row), generate


INTRINSICS = {
    one.__name__.lstrip("_"): intrinsic(one) for one in (_image_at, _write_image, _call_kernel, _address_in, _prefetch)
}


def type_of_intrinsic(name: str) -> Any:
    """numba's type of the function."""
    return cpu_target.typing_context.resolve_value_type(INTRINSICS[name])
