import threading

import numba
import numpy as np
import pytest

from phrasebeam.kernels.compilation.dispatchers import unchecked_indices
from phrasebeam.kernels.jit import kernel

pytestmark = pytest.mark.needs_jit


@kernel
def at(array, i):
    return array[i]


@kernel
def last(array):
    return array[-1]


@kernel
def swap(array, i, j):
    array[i, j], array[j, i] = array[j, i], array[i, j]


def test_indices_of_every_size():
    array = np.arange(5.0)
    assert at(array, np.int64(3)) == 3.0
    assert at(array, np.int32(4)) == 4.0
    assert at(array, np.uint8(2)) == 2.0


def test_kernels_do_not_look_for_negative_indices():
    signature = numba.float64(numba.float64[::1], numba.int64)
    as_ever = numba.njit(signature)(at.py_func)
    with unchecked_indices():
        ours = numba.njit(signature)(at.py_func)
    assert [" select " in one.inspect_llvm(one.signatures[0]) for one in (as_ever, ours)] == [True, False]


def test_constants_count_from_the_end():
    assert last(np.arange(5.0)) == 4.0


def test_writing_and_several_dimensions():
    array = np.arange(9).reshape(3, 3)
    swap(array, np.int64(0), np.int64(2))
    assert array.tolist() == [[0, 1, 6], [3, 4, 5], [2, 7, 8]]


def test_functions_of_others_are_as_they_were():
    theirs = numba.njit(lambda array, i: array[i])
    at(np.arange(3), np.int64(1))
    assert theirs(np.arange(3), -1) == 2


def test_other_threads_compile_as_they_did():
    theirs, found = numba.njit(lambda array, i: array[i]), []
    with unchecked_indices():
        thread = threading.Thread(target=lambda: found.append(theirs(np.arange(3), -2)))
        thread.start()
        thread.join()
    assert found == [1]
