"""NamedTuples that Python gives to kernels, passed by reference: as the address of their fields in a row.

numba passes each array of a NamedTuple as seven arguments or more, and copies all of them at each call. With a hundred
arrays that took half of the time of compilation. Kernels may read the fields of a reference, and no more; NamedTuples
that kernels make are numba's own, passed by value.
"""

import hashlib
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple
from numba.core.typing.typeof import Purpose, typeof
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.core.typing.templates import AttributeTemplate
from numba.np.numpy_support import as_dtype

BYTE = ir.IntType(8)
WORD = 8  # bytes; each field begins at a multiple of it


class Reference(types.Type):
    """The type of a reference to a `struct`, a class of NamedTuples, whose fields have the types `kinds`."""

    def __init__(self, struct: type, kinds: tuple[types.Type, ...]):
        self.struct, self.kinds = struct, dict(zip(struct._fields, kinds))
        described = f"{struct.__module__}.{struct.__qualname__}{struct._fields}({spelled(kinds)})"
        super().__init__(f"{struct.__name__}_{hashlib.sha256(described.encode()).hexdigest()[:16]}")


def spelled(kinds: Any) -> str:
    """Types of numba as text, NamedTuples with their modules and fields, which numba leaves out of their names."""
    parts = []
    for kind in kinds:
        if not isinstance(kind, BaseTuple):
            parts.append(str(kind))
            continue
        one = getattr(kind, "instance_class", tuple)
        parts.append(f"{one.__module__}.{one.__qualname__}{getattr(kind, 'fields', '')}({spelled(kind)})")
    return ", ".join(parts)


def type_of(value: Any) -> types.Type:
    """The type of an argument of a kernel that Python calls."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _reference(type(value), tuple(map(type_of, value)))
    return typeof(value, Purpose.argument)


_reference = cache(Reference)


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Reference):
        super().__init__(manager, kind, BYTE.as_pointer())


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> types.Type | None:
        return reference.kinds.get(name)


@cache
def _layout(context: Any, reference: Reference) -> tuple[dict[str, int], int]:
    """Offsets of the fields by name, and the size of all, in bytes."""
    offsets, size = {}, 0
    for name, kind in reference.kinds.items():
        offsets[name] = size
        size += _size(context, kind)
    return offsets, size


def _size(context: Any, kind: types.Type) -> int:
    if isinstance(kind, Reference):
        return _layout(context, kind)[1]
    return -(-context.get_abi_sizeof(context.get_data_type(kind)) // WORD) * WORD


@lower_getattr_generic(Reference)
def _read_field(context: Any, builder: Any, reference: Reference, address: Any, name: str) -> Any:
    """Code that reads a field. Nothing writes to it while a kernel runs, so that it is read once for a whole loop."""
    kind = reference.kinds[name]
    field = cgutils.pointer_add(builder, address, _layout(context, reference)[0][name], BYTE.as_pointer())
    if isinstance(kind, Reference):
        return field
    model, before = context.data_model_manager[kind], len(builder.block.instructions)
    value = model.load_from_data_pointer(builder, builder.bitcast(field, model.get_data_type().as_pointer()))
    for instruction in builder.block.instructions[before:]:
        if isinstance(instruction, ir.instructions.LoadInstr):
            instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(Reference)
def _unbox(reference: Reference, given: Any, c: Any) -> NativeValue:
    """Code that writes all fields of the NamedTuple `given` to the stack, and gives their address."""
    words = ir.ArrayType(ir.IntType(8 * WORD), _layout(c.context, reference)[1] // WORD)
    address = c.builder.bitcast(cgutils.alloca_once(c.builder, words), BYTE.as_pointer())
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    _write_fields(reference, given, address, failed, c)
    is_error = c.builder.load(failed)
    with c.builder.if_then(is_error, likely=False):
        c.pyapi.err_set_string("PyExc_TypeError", f"a field of {reference.struct.__name__} has another type than before")
    return NativeValue(address, is_error=is_error)


def _write_fields(reference: Reference, given: Any, address: Any, failed: Any, c: Any) -> None:
    offsets, _ = _layout(c.context, reference)
    for number, (name, kind) in enumerate(reference.kinds.items()):
        item = c.pyapi.tuple_getitem(given, number)
        field = cgutils.pointer_add(c.builder, address, offsets[name], BYTE.as_pointer())
        if isinstance(kind, Reference):
            _write_fields(kind, item, field, failed, c)
        elif isinstance(kind, types.Array):
            _write_array(kind, item, field, failed, c)
        else:
            native, model = c.unbox(kind, item), c.context.data_model_manager[kind]
            data = model.as_data(c.builder, native.value)
            c.builder.store(data, c.builder.bitcast(field, data.type.as_pointer()))
            _fail_if(native.is_error, failed, c)


def _write_array(kind: types.Array, item: Any, field: Any, failed: Any, c: Any) -> None:
    """Write an array as numba's kernels see it, without the branches that numba makes for each of its arrays."""
    status = c.pyapi.numba_array_adaptor(item, field)
    array = c.context.make_array(kind)(c.context, c.builder, ref=c.builder.bitcast(field, c.context.get_data_type(kind).as_pointer()))
    size = ir.Constant(array.itemsize.type, as_dtype(kind.dtype).itemsize)
    _fail_if(cgutils.is_not_null(c.builder, status), failed, c)
    _fail_if(c.builder.icmp_unsigned("!=", array.itemsize, size), failed, c)


def _fail_if(is_error: Any, failed: Any, c: Any) -> None:
    c.builder.store(c.builder.or_(c.builder.load(failed), is_error), failed)
