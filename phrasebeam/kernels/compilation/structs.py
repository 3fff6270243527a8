"""NamedTuples that Python passes to kernels by reference: as the address of their fields, which follow one another.

numba passes seven values or more for each array of a NamedTuple, and copies all of them at each call: with a hundred
arrays, that took half of the time of compilation. Kernels only read the fields of a reference. NamedTuples that kernels
make themselves are numba's own, passed by value.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.np.numpy_support import as_dtype, from_dtype

from phrasebeam.kernels.compilation.argument_kinds import ITEM_SIZE, WORD, ArrayKind, StructKind, layout, spelled

ADDRESS, INT64 = ir.IntType(8).as_pointer(), ir.IntType(64)


class StructReference(types.Type):
    """The type of a reference to a NamedTuple."""

    def __init__(self, kind: StructKind):
        self.kind, self.kinds = kind, dict(zip(kind.struct._fields, map(type_of, kind.kinds)))
        super().__init__(spelled((kind,)))


@cache
def type_of(kind: Any) -> types.Type:
    """numba's type for a kind of arguments."""
    if isinstance(kind, np.dtype):
        return from_dtype(kind)
    if isinstance(kind, ArrayKind):
        return types.Array(from_dtype(kind.dtype), kind.ndim, kind.layout, readonly=kind.is_readonly)
    if isinstance(kind, StructKind):
        return StructReference(kind)
    return BaseTuple.from_types(tuple(map(type_of, kind.kinds)), kind.struct)


def spelled_types(kinds: Any) -> str:
    """A text for types of numba; for types that Python passes it is the text that `spelled` has for their kinds.

    For NamedTuples it has their modules and fields, which numba's names of types do not have.
    """
    parts = []
    for kind in kinds:
        if not isinstance(kind, BaseTuple):
            parts.append(str(kind))
            continue
        one = getattr(kind, "instance_class", tuple)
        parts.append(f"{one.__module__}.{one.__qualname__}{getattr(kind, 'fields', '')}({spelled_types(kind)})")
    return ", ".join(parts)


@register_model(StructReference)
class _StructReferenceModel(models.PrimitiveModel):
    """The representation of a reference in LLVM."""

    def __init__(self, manager: Any, kind: StructReference):
        super().__init__(manager, kind, ADDRESS)


@infer_getattr
class _StructReferenceFields(AttributeTemplate):
    """Tells numba the types of the fields."""

    key = StructReference

    def generic_resolve(self, reference: StructReference, name: str) -> types.Type | None:
        return reference.kinds.get(name)


@lower_getattr_generic(StructReference)
def _read_field(context: Any, builder: Any, reference: StructReference, address: Any, name: str) -> Any:
    """Code that reads a field. Nothing writes to it while kernels run, so a loop need not read it more than once."""
    kind, offset = reference.kinds[name], layout(reference.kind)[0][name]
    field = cgutils.pointer_add(builder, address, offset, ADDRESS)
    if isinstance(kind, StructReference):
        return field
    model, n_before = context.data_model_manager[kind], len(builder.block.instructions)
    value = model.load_from_data_pointer(builder, builder.bitcast(field, model.get_data_type().as_pointer()))
    for instruction in builder.block.instructions[n_before:]:
        if isinstance(instruction, ir.instructions.LoadInstr):
            instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(StructReference)
def _unpack(reference: StructReference, given: Any, c: Any) -> NativeValue:
    """Code that writes the fields of the NamedTuple `given` to the stack; `c`: numba's context for unboxing."""
    words = ir.ArrayType(INT64, layout(reference.kind)[1] // WORD)
    address = c.builder.bitcast(cgutils.alloca_once(c.builder, words), ADDRESS)
    is_wrong = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    _write_fields(reference, given, address, is_wrong, c)
    is_error = c.builder.load(is_wrong)
    with c.builder.if_then(is_error, likely=False):
        message = f"a field of {reference.kind.struct.__name__} has another type than in the first call"
        c.pyapi.err_set_string("PyExc_TypeError", message)
    return NativeValue(address, is_error=is_error)


def _write_fields(reference: StructReference, given: Any, address: Any, is_wrong: Any, c: Any) -> None:
    """Code that writes the fields to `address`, and sets `is_wrong` if a field does not have the expected type."""
    offsets, arrays = layout(reference.kind)[0], list[tuple[int, int, int]]()
    for number, (name, kind) in enumerate(reference.kinds.items()):
        if isinstance(kind, types.Array):
            arrays.append((number, offsets[name], as_dtype(kind.dtype).itemsize))
            continue
        item = c.pyapi.tuple_getitem(given, number)
        field = cgutils.pointer_add(c.builder, address, offsets[name], ADDRESS)
        if isinstance(kind, StructReference):
            _write_fields(kind, item, field, is_wrong, c)
        else:
            native = c.unbox(kind, item)
            data = c.context.data_model_manager[kind].as_data(c.builder, native.value)
            c.builder.store(data, c.builder.bitcast(field, data.type.as_pointer()))
            _set_if(native.is_error, is_wrong, c)
    if arrays:
        _write_arrays(arrays, given, address, is_wrong, c)


def _write_arrays(arrays: list[tuple[int, int, int]], given: Any, address: Any, is_wrong: Any, c: Any) -> None:
    """Code that writes arrays, each given as number of the field, offset, and size of an item.

    It does what numba's code does, but in one loop.

    A copy of that code for each of a hundred arrays took seconds to compile.
    """
    size, values = ir.ArrayType(INT64, 3), [list(row) for row in arrays]
    rows = cgutils.global_constant(c.builder, "arrays", ir.Constant(ir.ArrayType(size, len(arrays)), values))
    with cgutils.for_range(c.builder, ir.Constant(INT64, len(arrays))) as loop:
        number, offset, expected = (
            c.builder.load(cgutils.gep_inbounds(c.builder, rows, 0, loop.index, column)) for column in range(3)
        )
        signature = ir.FunctionType(c.pyapi.pyobj, [c.pyapi.pyobj, INT64])
        get_item = cgutils.get_or_insert_function(c.builder.module, signature, "PyTuple_GetItem")
        field = cgutils.pointer_add(c.builder, address, offset, ADDRESS)
        status = c.pyapi.numba_array_adaptor(c.builder.call(get_item, [given, number]), field)
        item_size = cgutils.pointer_add(c.builder, field, ITEM_SIZE * WORD, INT64.as_pointer())
        _set_if(cgutils.is_not_null(c.builder, status), is_wrong, c)
        _set_if(c.builder.icmp_unsigned("!=", c.builder.load(item_size), expected), is_wrong, c)


def _set_if(condition: Any, flag: Any, c: Any) -> None:
    c.builder.store(c.builder.or_(c.builder.load(flag), condition), flag)
