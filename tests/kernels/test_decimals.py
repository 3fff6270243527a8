"""Numbers in text against Python's float()."""

import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.inner_kernels import read_number

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

DIGITS = st.text("0123456789", max_size=22)
EXPONENTS = st.one_of(st.just(""), st.integers(-400, 400).map(lambda power: f"e{power}"), st.just("E+07"))
BUILT = st.builds(
    lambda sign, before, point, behind, exponent: f"{sign}{before}{point}{behind}{exponent}",
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.sampled_from(["", "."]),
    DIGITS,
    EXPONENTS,
)
FLOATS = st.floats().map(repr)
SHORT = st.floats(width=32).map(lambda value: str(np.float32(value)))
HALVES = st.integers(2**52, 2**53 - 1).map(lambda n: str(2 * n + 1))  # between two numbers
ODD = [
    "",
    ".",
    "-",
    "e5",
    "1e",
    "1e+",
    "1_0",
    "1.2.3",
    "--1",
    "infinity",
    "INF",
    "NaN",
    "\u0663",
    "1\x1c",
    "0x10",
    "1e99999999",
]


@settings(max_examples=500)
@given(st.one_of(BUILT, FLOATS, SHORT, HALVES, st.sampled_from(ODD)))
@example("9007199254740993")
@example("2.4703282292062327e-324")
@example("2.4703282292062328e-324")
@example("2.2250738585072011e-308")
@example("1.7976931348623159e308")
@example("-0.0")
@example("5e-324")
@example("inf")
@example("-nan")
@example("8.5e-23")
@example("1e23")
def test_same_as_float(text):
    found, value = number(text)
    if found:
        expected = float(text)
        assert struct.pack("d", value) == struct.pack("d", expected) or (np.isnan(value) and np.isnan(expected))
    else:
        assert (
            text in ODD or not is_float(text) or sum(map(str.isdigit, text.lower().split("e")[0].lstrip("-+0."))) > 19
        )


@given(st.one_of(FLOATS, SHORT))
def test_what_python_writes_is_read(text):
    assert number(text)[0]


def number(text):
    data, numbers = b"7" + text.encode() + b"7", np.zeros(3)
    found = read_number(
        np.frombuffer(bytearray(data), np.uint8), np.int64(1), np.int64(len(data) - 1), numbers, np.int64(1)
    )
    assert numbers[0] == numbers[2] == 0
    return found, numbers[1]


def is_float(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
