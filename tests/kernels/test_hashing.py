"""Hashes against Python's integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.kernels.hashing import combine, mix, murmur, reciprocal, remainder
from tests.inner_kernels import slots_of
from tests.naive.ngrams import MASK, murmur64a

pytestmark = pytest.mark.kernels

uint64 = st.integers(0, MASK)


@given(st.binary(max_size=40), st.integers(0, 9), st.integers(0, 9))
def test_murmur(data, before, after):
    padded = np.frombuffer(bytearray(b"x" * before + data + b"y" * after), np.uint8)
    assert int(murmur(padded, before, before + len(data))) == murmur64a(data)


def test_murmur_knows_the_words_that_kenlm_wrote():
    # Read from the vocabulary of a file that build_binary wrote.
    golden = {"<s>": 0x758639BD217E70, "</s>": 0x6BE0737DF1F76C0A, "café": 0x5F7A16B901085D2A}
    for word, expected in golden.items():
        data = np.frombuffer(bytearray(word.encode("utf-8")), np.uint8)
        assert int(murmur(data, 0, data.size)) == expected


@given(uint64, st.integers(1, 2**63 - 1) | st.integers(1, 100))
def test_remainder(h, divisor):
    divisor = np.uint64(divisor)
    assert int(remainder(np.uint64(h), divisor, reciprocal(divisor))) == h % int(divisor)


@pytest.mark.parametrize("divisor", [1, 2, 3, 2**32 - 1, 2**32, 2**62, 2**63 - 1])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_remainder_beside_multiples(divisor, off):
    for multiple in (1, 2, MASK // divisor):
        h = (multiple * divisor + off) & MASK
        assert int(remainder(np.uint64(h), np.uint64(divisor), reciprocal(np.uint64(divisor)))) == h % divisor


@given(uint64, st.integers(0, 2**31 - 1))
def test_combine_wraps_as_c_does(h, word):
    expected = (h * 8978948897894561157 & MASK) ^ ((1 + word) * 17894857484156487943 & MASK)
    assert int(combine(np.uint64(h), word)) == expected


@given(uint64, uint64)
def test_mix_keeps_hashes_apart(a, b):
    assert (mix(np.uint64(a)) == mix(np.uint64(b))) == (a == b)


@given(uint64, st.integers(0, 6))
def test_every_slot_is_looked_at_once(h, bits):
    size, found = 1 << bits, np.full(1 << bits, -1, np.int64)
    slots_of(np.uint64(h), np.int64(size), found)
    assert found.tolist() == [(h + i) % size for i in range(size)]
