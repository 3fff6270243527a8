"""Structs are allocated as their fields declare, whatever the order of these."""

import importlib
import pkgutil
from typing import Annotated, NamedTuple

import numpy as np
import pytest

import phrasebeam
from phrasebeam.base.array_struct import allocate, array, array_fields


class Table(NamedTuple):
    """N rows of C columns."""

    name: str
    first: Annotated[np.ndarray, array(np.int64, "N + 1")]
    value: Annotated[np.ndarray, array(np.float32, "N", "C", fill=-np.inf)]
    is_good: Annotated[np.ndarray, array(np.bool_, "N")]
    work: Annotated[np.ndarray, array(np.uint64, 2, "C", fill=None)]
    given: np.ndarray


def test_arrays_are_as_declared():
    given = np.arange(3)
    table = allocate(Table, {"N": 4, "C": 3}, given=given, name="x")
    assert (table.name, table.given is given) == ("x", True)
    assert [field.shape for field in table[1:5]] == [(5,), (4, 3), (4,), (2, 3)]
    assert [field.dtype for field in table[1:5]] == [np.int64, np.float32, np.bool_, np.uint64]
    assert not table.first.any() and not table.is_good.any() and np.all(table.value == -np.inf)
    assert all(field.flags.c_contiguous and field.flags.writeable for field in table[1:5])


def test_a_declared_array_may_be_given():
    first = np.ones(7, np.int64)
    table = allocate(Table, {"N": 0, "C": 0}, name="x", given=first, first=first)
    assert table.first is first and table.value.shape == (0, 0)


def test_what_is_missing_or_unknown_is_an_error():
    with pytest.raises(TypeError, match="given"):
        allocate(Table, {"N": 1, "C": 1}, name="x")
    with pytest.raises(TypeError, match="other"):
        allocate(Table, {"N": 1, "C": 1}, name="x", given=None, other=0)
    with pytest.raises(KeyError, match="C"):
        allocate(Table, {"N": 1}, name="x", given=None)


def test_fields_come_in_their_order():
    fields = array_fields(Table)
    assert list(fields) == ["first", "value", "is_good", "work"]
    assert fields["first"] == array(np.int64, "N + 1")


def test_no_array_is_shared():
    one, two = (allocate(Table, {"N": 2, "C": 2}, name="x", given=None) for _ in range(2))
    for a, b in zip(one[1:5], two[1:5]):
        assert not np.shares_memory(a, b)


def _structs():
    for module in pkgutil.walk_packages(phrasebeam.__path__, "phrasebeam."):
        if module.name != "phrasebeam.__main__":
            for struct in vars(importlib.import_module(module.name)).values():
                if isinstance(struct, type) and issubclass(struct, tuple) and struct.__module__ == module.name:
                    yield struct


def test_all_structs_name_sizes_by_letters():
    declared = [struct for struct in _structs() if array_fields(struct)]
    assert len(declared) > 15
    for struct in declared:
        for field in array_fields(struct).values():
            names = [length.partition(" + ")[0] for length in field.shape if isinstance(length, str)]
            assert all(len(name) == 1 for name in names), struct
            field.new(dict.fromkeys(names, 1))
