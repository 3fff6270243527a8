"""Kinds of arguments that Python passes to kernels, and the memory layout of NamedTuples: all without importing numba.

The kinds of its arguments decide which machine code of a kernel is called. NamedTuples are passed by reference, see
structs.py.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

Struct = TypeVar("Struct", bound=type)

WORD = 8  # bytes; each field of a NamedTuple that is passed by reference is aligned to this
N_ITEMS, ITEM_SIZE, DATA, SHAPE = 2, 3, 4, 5  # positions of words in numba's struct of an array; strides follow SHAPE

NUMBERS = {np.dtype(name): name for name in ("bool", "float32", "float64")} | {
    np.dtype(f"{sign}int{bits}"): f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
INT = np.dtype(np.int64)
ARRAYS = np.ndarray, np.memmap
_SCALARS = {float: np.dtype(np.float64), bool: np.dtype(np.bool_)} | {dtype.type: dtype for dtype in NUMBERS}
LARGEST_INT = 2**63 - 1
C_ORDER, F_ORDER, WRITEABLE = 1, 2, 1024  # flags of arrays
DIGITS = 16  # of the digest in the name of a kind; numba makes names of functions from it

_by_value: set[type] = {tuple}


class ArrayKind(NamedTuple):
    """An array of one of NUMBERS."""

    dtype: np.dtype[Any]
    ndim: int
    layout: Literal["C", "F", "A"]  # A: neither C nor F
    is_readonly: bool


class StructKind(NamedTuple):
    """A NamedTuple passed by reference, and the kinds of its fields."""

    struct: Any
    kinds: tuple[Any, ...]


class TupleKind(NamedTuple):
    """A tuple passed by value, and the kinds of its items."""

    struct: Any
    kinds: tuple[Any, ...]


def by_value(struct: Struct) -> Struct:
    """Mark a class of NamedTuples that both Python and kernels make, so that both pass the same type."""
    _by_value.add(struct)
    return struct


class UnknownKindError(TypeError):
    """The type of an argument is known only to numba, or unknown."""


def kinds_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The kind of each argument. Raises UnknownKindError."""
    return tuple(map(kind_of, arguments))


def kind_of(value: Any) -> Any:
    """The kind of a value; for a number that is its dtype. Raises UnknownKindError."""
    kind = type(value)
    if kind in ARRAYS:
        return _array_kind(value.dtype, value.ndim, value.flags.num)
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind is int and -LARGEST_INT <= value <= LARGEST_INT:
        return INT
    if isinstance(value, tuple):
        if kind in _by_value:
            return _kind_by_value(value)
        return StructKind(_struct(kind), tuple(map(kind_of, value)))
    return _number(value.dtype if isinstance(value, np.generic) else None)


@cache
def _array_kind(dtype: Any, ndim: int, flags: int) -> ArrayKind:
    layout: Literal["C", "F", "A"] = "C" if flags & C_ORDER else "F" if flags & F_ORDER else "A"
    return ArrayKind(_number(dtype), ndim, layout, not flags & WRITEABLE)


def _kind_by_value(value: Any) -> Any:
    """The kind of a value within a tuple passed by value; tuples in it are passed by value, too."""
    if not isinstance(value, tuple):
        return kind_of(value)
    return TupleKind(_struct(type(value)), tuple(map(_kind_by_value, value)))


def _struct(kind: type) -> type:
    if kind is not tuple and not hasattr(kind, "_fields"):
        raise UnknownKindError
    return kind


def _number(dtype: Any) -> Any:
    if dtype is None or dtype not in NUMBERS:
        raise UnknownKindError
    return dtype


@cache
def spelled(kinds: tuple[Any, ...]) -> str:
    """A text for kinds; different kinds have different texts."""
    return ", ".join(map(_spelled, kinds))


def _spelled(kind: Any) -> str:
    if isinstance(kind, np.dtype):
        return NUMBERS[kind]
    if isinstance(kind, ArrayKind):
        name = f"array({NUMBERS[kind.dtype]}, {kind.ndim}d, {kind.layout})"
        return f"readonly {name}" if kind.is_readonly else name
    struct = kind.struct
    whole = f"{struct.__module__}.{struct.__qualname__}{getattr(struct, '_fields', '')}({spelled(kind.kinds)})"
    is_reference = isinstance(kind, StructKind)
    return f"{struct.__name__}_{hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]}" if is_reference else whole


@cache
def layout(reference: StructKind) -> tuple[dict[str, int], int]:
    """The offset in bytes of each field, by name, and the total size in bytes."""
    offsets, size = {}, 0
    for name, kind in zip(reference.struct._fields, reference.kinds):
        offsets[name] = size
        size += _rounded(_size(kind)[0], WORD)
    return offsets, size


def _size(kind: Any) -> tuple[int, int]:
    """Bytes of a field, and its alignment in bytes; a tuple passed by value has the layout of a C struct."""
    if isinstance(kind, ArrayKind):
        return (SHAPE + 2 * kind.ndim) * WORD, WORD
    if isinstance(kind, StructKind):
        return layout(kind)[1], WORD
    if isinstance(kind, np.dtype):
        return kind.itemsize, kind.itemsize
    size, largest = 0, 1
    for item_size, alignment in map(_size, kind.kinds):
        size, largest = _rounded(size, alignment) + item_size, max(largest, alignment)
    return _rounded(size, largest), largest


def _rounded(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
