"""Parsing of decimal numbers in the bytes of a text, to the value of Python's float().

Methods: Lemire 2021; Mushtak and Lemire 2023.
"""

import numpy as np

from phrasebeam.kernels.jit import inner_kernel

LEAST_POWER, LARGEST_POWER = -342, 308  # powers of ten whose product with up to 19 digits can be neither 0 nor infinite
EXACT_FROM = -27  # least q for which a uint64 may be divisible by 5**-q: rows of negative q from it on are rounded up
MOST_DIGITS = 19  # that fit in a uint64
MOST_EXPONENT = 99_999  # larger exponents are not read: no number in text has them
FRACTION_BITS, BIAS, INFINITE = 52, 1023, 0x7FF  # float64: stored bits of the fraction; bias; exponent of infinity
SPARE_BITS = np.uint64(0x1FF)  # the bits of the upper half of a product below those that are rounded
LOW, HALF, TOP = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(63)
ZERO, ONE, THREE, TEN = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(10)
PLUS, MINUS, POINT, DIGIT_0, DIGIT_9, SMALL_E, LARGE_E = b"+-.09eE"
NAMES = np.frombuffer(b"infnan", np.uint8).copy()


def _powers_of_five() -> np.ndarray:
    """uint64[K, 2]: upper and lower half of the first 128 bits of 5**q, for q from LEAST_POWER on, see EXACT_FROM."""
    rows = []
    for q in range(LEAST_POWER, LARGEST_POWER + 1):
        power, bits = 5 ** abs(q), (5 ** abs(q)).bit_length()
        first = power << 128 >> bits if q >= 0 else (1 << (127 + bits)) // power + (q >= EXACT_FROM)
        rows.append((first >> 64, first & (1 << 64) - 1))
    return np.array(rows, np.uint64)


FIVES = _powers_of_five()


@inner_kernel
def read_number(text, begin, end, numbers, place):
    """Set numbers[place] (float64[n]) to the number in text[begin:end] (uint8[n]); return whether it could be read.

    It reads decimal numbers of at most 19 digits, such as -1.5e-07, and "inf" and "nan". float() reads others, too.
    """
    is_negative = begin < end and text[begin] == MINUS
    if is_negative or (begin < end and text[begin] == PLUS):
        begin += 1
    if end - begin == 3 and text[begin] > DIGIT_9:
        return _read_name(text, begin, numbers, place, is_negative)
    digits, n_digits, n_read, power, i = ZERO, 0, 0, 0, begin
    is_fraction = False
    while i < end:
        if DIGIT_0 <= text[i] <= DIGIT_9:
            digits = digits * TEN + np.uint64(text[i] - DIGIT_0)
            n_read += 1
            n_digits += digits != ZERO
            power -= is_fraction
        elif text[i] == POINT and not is_fraction:
            is_fraction = True
        else:
            break
        i += 1
    if n_read == 0 or n_digits > MOST_DIGITS:
        return False
    if i < end:
        exponent = _exponent(text, i, end)
        if exponent > MOST_EXPONENT:
            return False
        power += exponent
    value = _nearest(digits, power)
    numbers[place] = -value if is_negative else value
    return True


@inner_kernel
def _read_name(text, begin, numbers, place, is_negative):
    for k in range(0, NAMES.size, 3):
        if text[begin] == NAMES[k] and text[begin + 1] == NAMES[k + 1] and text[begin + 2] == NAMES[k + 2]:
            value = np.inf if k == 0 else np.nan
            numbers[place] = -value if is_negative else value
            return True
    return False


@inner_kernel
def _exponent(text, begin, end):
    """The number (int64) after the e at text[begin], up to `end`; above MOST_EXPONENT if there is no number."""
    none = MOST_EXPONENT + 1
    if text[begin] != SMALL_E and text[begin] != LARGE_E:
        return none
    begin += 1
    is_negative = begin < end and text[begin] == MINUS
    if is_negative or (begin < end and text[begin] == PLUS):
        begin += 1
    if begin == end:
        return none
    exponent = np.int64(0)
    for i in range(begin, end):
        if not DIGIT_0 <= text[i] <= DIGIT_9 or exponent > MOST_EXPONENT:
            return none
        exponent = 10 * exponent + np.int64(text[i] - DIGIT_0)
    return -exponent if is_negative and exponent <= MOST_EXPONENT else exponent


@inner_kernel
def _nearest(digits, power):
    """The float64 nearest to `digits` (uint64) * 10**`power`; of two equally near ones the even one."""
    if digits == ZERO or power < LEAST_POWER:
        return 0.0
    if power > LARGEST_POWER:
        return np.inf
    n_shifted = 0
    while not digits >> TOP:
        digits <<= ONE
        n_shifted += 1
    high, low = _product(digits, FIVES[power - LEAST_POWER, 0])
    if high & SPARE_BITS == SPARE_BITS:  # the lower half may decide how to round
        more, _ = _product(digits, FIVES[power - LEAST_POWER, 1])
        low += more
        high += np.uint64(more > low)
    upper = np.int64(high >> TOP)
    n_spare = np.uint64(upper + 64 - FRACTION_BITS - 3)
    fraction = high >> n_spare  # one bit more than is stored
    exponent = ((217706 * power) >> 16) + 63 + upper - n_shifted + BIAS
    if exponent <= 0:  # a subnormal number
        if exponent <= -63:
            return 0.0
        fraction >>= np.uint64(1 - exponent)
        exponent = 0
    elif low <= ONE and -4 <= power <= 23 and fraction & THREE == ONE and fraction << n_spare == high:
        fraction -= ONE  # exactly between two floats, of which the lower one is even
    fraction = (fraction + (fraction & ONE)) >> ONE
    if exponent == 0:
        return _float64(fraction)
    if fraction >> np.uint64(FRACTION_BITS + 1):
        exponent += 1
        fraction = ZERO
    if exponent >= INFINITE:
        return np.inf
    stored = fraction & np.uint64((1 << FRACTION_BITS) - 1)
    return _float64(stored | np.uint64(exponent) << np.uint64(FRACTION_BITS))


@inner_kernel
def _float64(bits):
    return np.uint64(bits).view(np.float64)


@inner_kernel
def _product(a, b):
    """Upper and lower half (uint64) of `a` * `b`."""
    a_low, a_high, b_low, b_high = a & LOW, a >> HALF, b & LOW, b >> HALF
    middle = a_high * b_low + ((a_low * b_low) >> HALF)
    carry = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> HALF) + (carry >> HALF), a * b
