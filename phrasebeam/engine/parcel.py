"""Objects packed for another process: arrays as bytes, mapped arrays as positions in files, models as their parts.

A parcel is for a single connection and never comes from a file.
"""

import functools
import pickle
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, TypeVar

import numpy as np

from phrasebeam.engine.mapped_files import map_again, mapped_array

Kind = TypeVar("Kind", bound=type)
Parcel = list[np.ndarray]  # of uint8: the structure, followed by the arrays
SMALLEST_MAPPED = 1 << 12  # bytes; a smaller array is sent as bytes even if it is mapped

_by_parts: set[type] = set()
_by_functions: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def travels_by_parts(kind: Kind) -> Kind:
    """Mark a class: its objects are packed as their attributes, even if they are pickled differently."""
    _by_parts.add(kind)
    return kind


def travels_by(kind: type, reduced: Callable[[Any], tuple[Any, ...]]) -> None:
    """Pack objects of the class `kind` as a function and its arguments, which `reduced` returns."""
    _by_functions[kind] = reduced


def pack(value: object) -> Parcel:
    """The parcel of `value`, for `unpack`; functions without a name can be packed, with everything they refer to."""
    arrays = list[np.ndarray]()

    def is_inline(buffer: pickle.PickleBuffer) -> bool:
        arrays.append(np.frombuffer(buffer.raw(), np.uint8))
        return False

    structure = BytesIO()
    _packer_class()(structure, protocol=5, buffer_callback=is_inline).dump(value)
    return [np.frombuffer(structure.getbuffer(), np.uint8), *arrays]


def unpack(parcel: Sequence[np.ndarray]) -> Any:
    """The packed value; its arrays are in new memory. Raises MissingFile, see map_again."""
    structure, *arrays = parcel
    return pickle.loads(structure.data, buffers=[bytearray(array.data) for array in arrays])


def size_of(parcel: Parcel) -> int:
    """The number of bytes that are sent."""
    return sum(part.nbytes for part in parcel)


@functools.cache
def _packer_class() -> Any:
    from ray import cloudpickle  # the version that Ray itself uses

    class Packer(cloudpickle.CloudPickler):
        def reducer_override(self, given: Any) -> Any:
            known = _reduced(given)
            return super().reducer_override(given) if known is None else known

    return Packer


def _reduced(given: Any) -> Any:
    """The packed form of `given`; None if it is to be pickled."""
    if isinstance(given, np.ndarray):
        place = mapped_array(given) if given.nbytes >= SMALLEST_MAPPED else None
        if place is not None:
            return map_again, (place,)
        return None if type(given) is np.ndarray else (np.array, (np.array(given, subok=False),))
    if isinstance(given, memoryview):
        raise TypeError("a memoryview would be packed as its bytes alone; its owner must pack it")
    if isinstance(given, functools._lru_cache_wrapper):
        return _cached, (given.__wrapped__, given.cache_parameters()["maxsize"])
    if type(given) in _by_functions:
        return _by_functions[type(given)](given)
    if type(given) in _by_parts:
        return object.__new__, (type(given),), given.__dict__
    return None


def _cached(function: Any, most: int | None) -> Any:
    return functools.lru_cache(most)(function)
