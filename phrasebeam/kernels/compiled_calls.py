"""Data with which a kernel calls others many times without Python: their machine code, and memory of their arguments.

A kernel that calls another one has a copy of its code, which is compiled again. Here it calls the machine code that
Python calls, too, by its address. The NamedTuples that it passes on are images, copies of the fields that Python gave,
in which it may write other addresses and sizes of arrays.
"""

from collections.abc import Sequence
from typing import Any, cast

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from phrasebeam.kernels.second_compiler import KernelCall
from phrasebeam.kernels.structs import ADDRESS, WORD, StructReference, layout, type_of

# Words of an array in an image
N_ITEMS, DATA, SHAPE = 2, 4, 5


def address_of(call: KernelCall) -> int:
    """The address of the machine code of a kernel, which is compiled or loaded now. It must return int64."""
    dispatcher, kinds = call
    dispatcher.compile(kinds)
    compiled = dispatcher.overloads[kinds]
    if compiled.signature.return_type != types.int64:
        raise TypeError(f"{dispatcher.__name__} returns {compiled.signature.return_type}, expected int64")
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def image_words(struct: Any) -> int:
    """Words of 8 bytes in an image of a NamedTuple."""
    return layout(cpu_target.target_context, cast(StructReference, type_of(struct)))[1] // WORD


def word_in_image(struct: Any, path: Sequence[str]) -> int:
    """Position of a field in an image of `struct`; with several names, of a field within a field."""
    kind, word = cast(StructReference, type_of(struct)), 0
    for name in path:
        word += layout(cpu_target.target_context, kind)[0][name] // WORD
        kind = kind.kinds[name]
    return word


def _row(context: Any, builder: Any, kind: Any, images: Any, row: Any) -> Any:
    """The address of images[row]."""
    view = context.make_array(kind)(context, builder, images)
    offset = builder.mul(builder.extract_value(view.strides, 0), row)
    return cgutils.pointer_add(builder, builder.bitcast(view.data, ADDRESS), offset, ADDRESS)


def _image_at(_typing: Any, struct: Any, images: Any, row: Any) -> Any:
    """image_at(struct, images, row), in kernels: the image in images[row] (int64[N, S]), of the type of `struct`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _row(context, builder, signature.args[1], *arguments[1:])

    return struct(struct, images, types.intp), generate


def _write_image(_typing: Any, struct: Any, images: Any, row: Any) -> Any:
    """write_image(struct, images, row), in kernels: write an image of `struct` to images[row] (int64[N, S])."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = ir.Constant(ir.IntType(64), layout(context, signature.args[0])[1])
        cgutils.raw_memcpy(builder, _row(context, builder, signature.args[1], *arguments[1:]), arguments[0], size, 1)
        return context.get_dummy_value()

    return types.void(struct, images, types.intp), generate


def _call_kernel(_typing: Any, address: Any, arguments: Any) -> Any:
    """call_kernel(address, arguments), in kernels: what the kernel at address_of returns for a tuple of arguments."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = tuple(signature.args[1])
        code = context.call_conv.get_function_type(types.int64, kinds).as_pointer()
        function = builder.inttoptr(values[0], code)
        given = cgutils.unpack_tuple(builder, values[1])
        return context.call_conv.call_function(builder, function, types.int64, kinds, given)[1]

    return types.int64(types.int64, arguments), generate


def _address_in(_typing: Any, array: Any, row: Any) -> Any:
    """address_in(array, row), in kernels: the address (int64) of array[row], which may be one behind the end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(_row(context, builder, signature.args[0], *arguments), ir.IntType(64))

    return types.int64(array, types.intp), generate


IS_COMPILED = not numba.config.DISABLE_JIT  # without machine code there is nothing to call
image_at, write_image = intrinsic(_image_at), intrinsic(_write_image)
call_kernel, address_in = intrinsic(_call_kernel), intrinsic(_address_in)
