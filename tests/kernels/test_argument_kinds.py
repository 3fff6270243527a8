"""Kinds of arguments, found and laid out without numba, are those that numba finds."""

import pickle
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.kernels.compilation.argument_kinds import (
    NUMBERS,
    UnknownKindError,
    by_value,
    kind_of,
    kinds_of,
    layout,
    spelled,
)

pytestmark = pytest.mark.needs_jit


class Inner(NamedTuple):
    flag: bool
    array: np.ndarray


@by_value
class Pair(NamedTuple):
    first: object
    second: object


class Outer(NamedTuple):
    inner: Inner
    pair: Pair
    small: np.int8
    last: np.ndarray


class Colour(IntEnum):
    RED = 1


numbers = st.sampled_from(list(NUMBERS)).map(lambda dtype: dtype.type(1))
scalars = st.one_of(numbers, st.booleans(), st.floats(), st.integers(-(2**63) + 1, 2**63 - 1))


@st.composite
def arrays(draw):
    array = np.zeros(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)), draw(st.sampled_from(list(NUMBERS))))
    array = draw(st.sampled_from([array, array.T, array[::2], array[..., ::2], array.view(np.memmap)]))
    array.flags.writeable = draw(st.booleans())
    return array


pairs = st.builds(Pair, scalars, st.one_of(arrays(), st.builds(Pair, scalars, scalars), st.tuples(scalars, scalars)))
inners = st.builds(Inner, st.booleans(), arrays())
outers = st.builds(Outer, inners, pairs, numbers, arrays())


@given(st.lists(st.one_of(scalars, arrays(), pairs, outers), max_size=3))
def test_types_are_spelled_as_those_of_numba(values):
    from phrasebeam.kernels.compilation.structs import spelled_types, type_of

    kinds = kinds_of(values)
    assert spelled(kinds) == spelled_types(map(type_of, kinds))
    assert pickle.loads(pickle.dumps(kinds)) == kinds


@given(st.one_of(scalars, arrays(), pairs))
def test_types_are_those_of_numba(value):
    from numba.core.typing.typeof import Purpose, typeof

    from phrasebeam.kernels.compilation.structs import type_of

    assert type_of(kind_of(value)) == typeof(value, Purpose.argument)


@given(outers)
def test_fields_lie_where_numba_expects_them(outer):
    from numba.core.registry import cpu_target

    from phrasebeam.kernels.compilation.structs import type_of

    context, kind = cpu_target.target_context, kind_of(outer)
    offsets, size = layout(kind)
    ends = [*offsets.values(), size][1:]
    for name, end, field in zip(offsets, ends, kind.kinds):
        if name != "inner":
            expected = context.get_abi_sizeof(context.get_data_type(type_of(field)))
            assert (expected + 7) // 8 * 8 == end - offsets[name]


def test_what_differs_has_another_kind():
    array = np.zeros((2, 2))
    read_only = array.copy()
    read_only.flags.writeable = False
    values = [1, 1.0, True, np.int32(1), array, array.T, array[:, :1], read_only, array[0], array.astype(np.int64)]
    values += [(1, 2), Pair(1, 2), Inner(True, array), Inner(True, array[0])]
    assert len({spelled((kind_of(value),)) for value in values}) == len(values)


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        "text",
        None,
        [1],
        {},
        Colour.RED,
        np.zeros(1, ">i4"),
        np.zeros(1, "M8[s]"),
        1j,
        np.zeros(1, object),
        (1, ""),
    ],
)
def test_of_other_values_nothing_is_known(value):
    with pytest.raises(UnknownKindError):
        kind_of(value)
