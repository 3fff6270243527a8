"""Structs of arrays: NamedTuples whose fields declare dtype and shape, from which all arrays are allocated."""

from collections import namedtuple
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np

Struct = TypeVar("Struct", bound=tuple)


class ArrayField(NamedTuple):
    """The dtype and shape that a field declares for its array."""

    dtype: np.dtype
    shape: tuple[int | str, ...]  # numbers, names of sizes, or "NAME + number"
    fill: float | None  # the first value of all elements; None: whatever the memory held before
    below: int | None = None  # bound on the numbers in files whose numbers are checked, see array_in

    def lengths(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape in numbers; `sizes` has the number for each name. Raises KeyError if one is missing."""
        return tuple(_length(length, sizes) for length in self.shape)

    def new(self, sizes: Mapping[str, int]) -> np.ndarray:
        shape = self.lengths(sizes)
        if self.fill is None:
            return np.empty(shape, self.dtype)
        return np.full(shape, self.fill, self.dtype) if self.fill else np.zeros(shape, self.dtype)


def array(dtype: type, *shape: int | str, fill: float | None = 0, below: int | None = None) -> ArrayField:
    """The declaration of a field of a struct: `score: Annotated[np.ndarray, array(np.float64, "N + 1", 4)]`."""
    return ArrayField(np.dtype(dtype), shape, fill, below)


@cache
def array_fields(struct: type) -> dict[str, ArrayField]:
    """The arrays that the fields of a struct declare, in their order, by name of the field."""
    fields = {}
    for name, hint in get_type_hints(struct, include_extras=True).items():
        for declared in getattr(hint, "__metadata__", ()):
            if isinstance(declared, ArrayField):
                fields[name] = declared
    return fields


def allocate(struct: type[Struct], sizes: Mapping[str, int], **given: Any) -> Struct:
    """A struct with new arrays for all declared fields except those `given`.

    Raises TypeError if a field is neither declared nor given, KeyError if a size is missing.
    """
    new = {name: field.new(sizes) for name, field in array_fields(struct).items() if name not in given}
    return struct(**new, **given)


def struct_of(name: str, fields: Iterable[str]) -> Any:
    """A class of NamedTuples with `fields`, as a registry declares them."""
    return namedtuple(name, [*fields])


def split_length(length: str) -> tuple[str, int]:
    """The name in a length "NAME" or "NAME + number", and the number or 0."""
    name, _, more = length.partition(" + ")
    return name, int(more or 0)


def _length(length: int | str, sizes: Mapping[str, int]) -> int:
    if isinstance(length, int):
        return length
    name, more = split_length(length)
    return sizes[name] + more
