import numpy as np
import pytest

from phrasebeam.kernels.jit import kernel
from phrasebeam.kernels.prefetch import prefetch

pytestmark = pytest.mark.kernels


@kernel
def sum_rows(array, rows):
    total = 0.0
    for row in rows:
        prefetch(array, row)
    for row in rows:
        total += array[row].sum()
    return total


@pytest.mark.parametrize("shape", [(5, 1), (5, 3), (5, 2, 2)])
def test_reading_is_what_it_was(shape):
    array = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    rows = np.array([4, 0, 3], np.int64)
    assert sum_rows(array, rows) == array[rows].sum()


@kernel
def prefetch_one(array, row):
    prefetch(array, row)


def test_rows_that_are_not_there_do_no_harm():
    for row in (-1, 5, 1 << 40, -(1 << 40)):
        prefetch_one(np.zeros((5, 2), np.float32), np.int64(row))
        prefetch_one(np.zeros((0, 2), np.float32), np.int64(row))


def test_the_row_may_be_a_small_integer():
    prefetch_one(np.zeros(5), np.int32(4))
