"""Damage to the bytes of any file: flipped bits, truncation, runs, moved blocks, extreme numbers at aligned places."""

import struct
from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, bytes], bytes]  # the damaged content of a file

EXTREME_FLOATS = [float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-45, -1e-45, 0.0, -0.0, 1.0, -1.0]
EXTREME_INTEGERS = [0, 1, 2, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**61, 2**63 - 1, 2**63, 2**64 - 1]
HEADER = 160  # bytes: those of a .npy file, and nearly those of a language model
LONGEST_RUN = 4096


def flip_bit(rng: Random, data: bytes) -> bytes:
    return _flipped(rng, data, 1, len(data))


def flip_bits(rng: Random, data: bytes) -> bytes:
    return _flipped(rng, data, rng.randint(2, 40), len(data))


def flip_header_bits(rng: Random, data: bytes) -> bytes:
    return _flipped(rng, data, rng.randint(1, 3), min(HEADER, len(data)))


def _flipped(rng, data, times, size):
    damaged = bytearray(data)
    for _ in range(times if size else 0):
        damaged[rng.randrange(size)] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def empty(rng: Random, data: bytes) -> bytes:
    return b""


def truncate(rng: Random, data: bytes) -> bytes:
    return data[: _position(rng, data)]


def cut_few(rng: Random, data: bytes) -> bytes:
    return data[: -rng.randint(1, 9)]


def extend(rng: Random, data: bytes) -> bytes:
    return data + rng.choice([b"\0", b"\n", rng.randbytes(rng.randint(1, 100)), b"\0" * rng.randint(1, 5000), data])


def cut_beginning(rng: Random, data: bytes) -> bytes:
    return data[rng.randint(1, 9) :]


def zero_run(rng: Random, data: bytes) -> bytes:
    return _overwritten(rng, data, lambda size: bytes(size))


def ones_run(rng: Random, data: bytes) -> bytes:
    return _overwritten(rng, data, lambda size: b"\xff" * size)


def random_run(rng: Random, data: bytes) -> bytes:
    return _overwritten(rng, data, rng.randbytes)


def _overwritten(rng, data, content):
    begin = _position(rng, data)
    size = min(rng.choice([1, 4, 8, 64, LONGEST_RUN]), len(data) - begin)
    return data[:begin] + content(size) + data[begin + size :]


def delete_block(rng: Random, data: bytes) -> bytes:
    begin = _position(rng, data)
    return data[:begin] + data[begin + rng.choice([1, 4, 8, 64, 1000]) :]


def repeat_block(rng: Random, data: bytes) -> bytes:
    begin = _position(rng, data)
    end = begin + rng.choice([1, 4, 8, 64, 1000])
    return data[:end] + data[begin:end] + data[end:]


def swap_blocks(rng: Random, data: bytes) -> bytes:
    size = rng.choice([1, 4, 8, 16, 64])
    if len(data) < 2 * size:
        return data
    first = rng.randrange(len(data) - 2 * size + 1)
    second = rng.randint(first + size, len(data) - size)
    middle = data[first + size : second]
    return data[:first] + data[second : second + size] + middle + data[first : first + size] + data[second + size :]


def extreme_float(rng: Random, data: bytes) -> bytes:
    return _at_aligned(rng, data, struct.pack("<f", rng.choice(EXTREME_FLOATS)))


def extreme_floats(rng: Random, data: bytes) -> bytes:
    """The same number at every second place of a stretch."""
    number = struct.pack("<f", rng.choice(EXTREME_FLOATS))
    begin = _position(rng, data) // 4 * 4
    damaged = bytearray(data)
    for place in range(begin, min(begin + LONGEST_RUN, len(data) - 3), 8):
        damaged[place : place + 4] = number
    return bytes(damaged)


def extreme_integer(rng: Random, data: bytes) -> bytes:
    return _at_aligned(rng, data, _integer(rng))


def extreme_header_integer(rng: Random, data: bytes) -> bytes:
    return _at_aligned(rng, data[:HEADER], _integer(rng)) + data[HEADER:]


def _integer(rng):
    return struct.pack("<Q", rng.choice(EXTREME_INTEGERS))[: rng.choice([4, 8])]


def _at_aligned(rng, data, content):
    begin = _position(rng, data) // 4 * 4
    return (data[:begin] + content + data[begin + len(content) :])[: len(data)]


def _position(rng, data):
    return rng.randrange(len(data)) if data else 0


BYTES: list[Mutation] = [
    *(flip_bit, flip_bits, flip_header_bits, empty, truncate, cut_few, extend, cut_beginning),
    *(zero_run, ones_run, random_run, delete_block, repeat_block, swap_blocks),
    *(extreme_float, extreme_float, extreme_floats, extreme_integer, extreme_header_integer),
]
