"""Kinds of arguments that Python gives to kernels, and how NamedTuples lie in memory: all without importing numba.

A kind tells which machine code of a kernel an argument needs. NamedTuples are passed by reference, see structs.py.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

Struct = TypeVar("Struct", bound=type)

WORD = 8  # bytes; each field of a NamedTuple that is passed by reference begins at a multiple of it
N_ITEMS, ITEM_SIZE, DATA, SHAPE = 2, 3, 4, 5  # words of an array; behind the shape are the strides

NUMBERS = {np.dtype(name): name for name in ("bool", "float32", "float64")} | {
    np.dtype(f"{sign}int{bits}"): f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
INT = np.dtype(np.int64)
ARRAYS = np.ndarray, np.memmap
_SCALARS = {float: np.dtype(np.float64), bool: np.dtype(np.bool_)} | {dtype.type: dtype for dtype in NUMBERS}
LARGEST_INT = 2**63 - 1
C_ORDER, F_ORDER, WRITEABLE = 1, 2, 1024  # flags of arrays
DIGITS = 16  # of the digest in the name of a kind, of which numba makes names of functions

_by_value: set[type] = {tuple}


class ArrayKind(NamedTuple):
    """An array of one of NUMBERS."""

    dtype: np.dtype[Any]
    ndim: int
    layout: Literal["C", "F", "A"]  # A is neither
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
    """Decorator of a class of NamedTuples that come from Python and from kernels, so that both pass the same type."""
    _by_value.add(struct)
    return struct


class UnknownKindError(TypeError):
    """An argument has a type that only numba knows, if any."""


def kinds_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The kind of each argument. Raises UnknownKindError."""
    return tuple(map(kind_of, arguments))


def kind_of(value: Any) -> Any:
    """The kind of a value: that of a number is its dtype. Raises UnknownKindError."""
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
    """The kind of a value within a tuple that is passed by value, as all tuples in it are."""
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
    """Kinds as text, in which no two are the same."""
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
    """Offsets of the fields by name, and the size of all, in bytes."""
    offsets, size = {}, 0
    for name, kind in zip(reference.struct._fields, reference.kinds):
        offsets[name] = size
        size += _rounded(_size(kind)[0], WORD)
    return offsets, size


def _size(kind: Any) -> tuple[int, int]:
    """Bytes of a field, and of which number its offset is a multiple; a tuple passed by value is a struct of C."""
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
