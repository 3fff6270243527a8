"""Images of NamedTuples, and calls of kernels by their addresses."""

from typing import NamedTuple

import numpy as np
import pytest

from phrasebeam.kernels.compilation.argument_kinds import kind_of
from phrasebeam.kernels.compiled_calls import (
    DATA,
    IS_COMPILED,
    N_ITEMS,
    SHAPE,
    address_in,
    address_of,
    call_kernel,
    image_at,
    image_words,
    word_in_image,
    write_image,
)
from phrasebeam.kernels.jit import kernel
from phrasebeam.kernels.second_compiler import call_of

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="there is no machine code to call")


class Inner(NamedTuple):
    numbers: np.ndarray
    factor: float


class Outer(NamedTuple):
    inner: Inner
    offset: int


@kernel
def weighted_sum(outer: Outer, most):
    total = 0.0
    for i in range(min(most, outer.inner.numbers.size)):
        total += outer.inner.factor * outer.inner.numbers[i]
    return np.int64(total) + outer.offset


@kernel
def half(number):
    return number / 2


@kernel
def sums_of_parts(outer: Outer, address, place, numbers, bounds, image, sums):
    """The weighted sum of each part of `numbers`, by an image of `outer` that has it."""
    for i in range(sums.size):
        write_image(outer, image)
        image[place + DATA] = address_in(numbers, bounds[i])
        image[place + SHAPE] = image[place + N_ITEMS] = bounds[i + 1] - bounds[i]
        sums[i] = call_kernel(address, (image_at(outer, image), 1000))


def test_a_kernel_is_called_with_other_arrays():
    numbers, bounds, sums = np.arange(10.0), np.array([0, 3, 3, 10]), np.zeros(3, np.int64)
    outer = Outer(Inner(np.zeros(1), 2.0), 100)
    image = np.zeros(image_words(kind_of(outer)), np.int64)
    place = word_in_image(kind_of(outer), ("inner", "numbers"))
    sums_of_parts(outer, address_of(call_of(weighted_sum, outer, 0)), place, numbers, bounds, image, sums)
    assert sums.tolist() == [106, 100, 184]
    assert weighted_sum(outer, 5) == 100  # whose array is its own


def test_what_returns_something_else_is_refused():
    with pytest.raises(TypeError, match="half returns float64, expected int64"):
        address_of(call_of(half, 1))
