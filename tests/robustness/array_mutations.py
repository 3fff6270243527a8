"""Damage to .npy files: other dtypes, shapes and orders in whole files, extreme values, and headers beyond reason."""

import io
from random import Random

import numpy as np

from tests.robustness.byte_mutations import BYTES, EXTREME_FLOATS, Mutation

DTYPES = ["<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "<f2", ">f4", ">i4", "|u1", "|i1", "<c8", "|b1", "<U1"]
HEADERS = [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693952, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ("9" * 5000),
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': %s}" % ("(" * 3000),
    "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f3', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f4', 'fortran_order': 1, 'shape': (3,), }",
    "{'descr': '<f4', 'shape': (3,), }",
    "'" * 3,
    "-" * 9000 + "1",
    "{}",
    "",
    "\0" * 50,
    "(" * 9,
    "{'a': 'b\n",
]


def retype(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    with np.errstate(all="ignore"):
        return data if array is None else _saved(array.astype(rng.choice(DTYPES)))


def reinterpret(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    if array is None or not array.size:
        return data
    same = [dtype for dtype in DTYPES if np.dtype(dtype).itemsize == array.dtype.itemsize]
    return _saved(array.view(rng.choice(same)))


def reshape(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    if array is None or not array.size:
        return data
    width = array.shape[1] if array.ndim == 2 else 1
    shaped = [
        array.ravel(),
        array.reshape(-1, 1),
        array.reshape(1, -1),
        array.reshape(1, *array.shape),
        array.ravel()[:1].reshape(()),
        array.reshape(len(array), width)[:, :-1],
        array.reshape(len(array), width)[:, :0],
        np.repeat(array.reshape(len(array), width), 2, axis=1),
        np.asfortranarray(array.reshape(len(array), width)),
        array.reshape(width, -1),
    ]
    return _saved(rng.choice(shaped))


def drop_rows(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    return data if array is None else _saved(array[: rng.choice([0, 1, 2, len(array) // 2, -2, -1])])


def add_rows(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    return data if array is None else _saved(np.concatenate([array, array[: rng.choice([1, 2, 1000])]]))


def shuffle_rows(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    if array is None:
        return data
    order = list(range(len(array)))
    rng.shuffle(order)
    return _saved(array[order])


def roll_rows(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    return data if array is None else _saved(np.roll(array, rng.choice([1, -1, len(array) // 2]), axis=0))


def reverse_rows(rng: Random, data: bytes) -> bytes:
    array = _array(data)
    return data if array is None else _saved(np.ascontiguousarray(array[::-1]))


def repeat_row(rng: Random, data: bytes) -> bytes:
    """A row in place of another."""
    array = _array(data)
    if array is None or not array.size:
        return data
    array[rng.randrange(len(array))] = array[rng.randrange(len(array))]
    return _saved(array)


def shift_values(rng: Random, data: bytes) -> bytes:
    """All numbers become larger or smaller by the same, as far as their dtype has room."""
    array = _array(data)
    if array is None or not array.size:
        return data
    with np.errstate(all="ignore"):
        return _saved(array + np.array(rng.choice([1, 5, -1])).astype(array.dtype))


def extreme_values(rng: Random, data: bytes) -> bytes:
    """An extreme number of its own dtype at one place, or at each."""
    array = _array(data)
    if array is None or not array.size:
        return data
    flat = array.reshape(-1).copy()
    places = slice(None) if rng.random() < 0.3 else rng.randrange(flat.size)
    if flat.dtype.kind == "f":
        flat[places] = rng.choice(EXTREME_FLOATS)
    else:
        limits = np.iinfo(flat.dtype)
        flat[places] = rng.choice(
            [limits.min, limits.max, limits.max // 2, 0, 1, max(limits.min, -1), max(limits.min, -2)]
        )
    return _saved(flat.reshape(array.shape))


def change_values(rng: Random, data: bytes) -> bytes:
    """Numbers that may well be right: one becomes a little larger or smaller, or that of another place."""
    array = _array(data)
    if array is None or not array.size:
        return data
    flat = array.reshape(-1).copy()
    place = rng.randrange(flat.size)
    with np.errstate(all="ignore"):
        flat[place] = rng.choice(
            [flat[place] + flat.dtype.type(1), flat[place] - flat.dtype.type(1), flat[rng.randrange(flat.size)]]
        )
    return _saved(flat.reshape(array.shape))


def nasty_header(rng: Random, data: bytes) -> bytes:
    header = rng.choice(HEADERS).encode() + b"\n"
    return b"\x93NUMPY" + (b"\x02\0" + len(header).to_bytes(4, "little") + header) + data[128:]


def header_length(rng: Random, data: bytes) -> bytes:
    version = rng.choice([b"\x01\0", b"\x02\0", b"\x03\0", b"\x04\0", b"\xff\xff"])
    return data[:6] + version + rng.choice([0, 1, 118, 119, 65535, 2**31, 2**32 - 1]).to_bytes(4, "little") + data[10:]


def _array(data):
    try:
        return np.load(io.BytesIO(data))
    except (ValueError, EOFError):
        return None


def _saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


ORDERS: list[Mutation] = [shuffle_rows, roll_rows, reverse_rows]
WHOLE_ARRAYS: list[Mutation] = [
    *(*ORDERS, repeat_row, shift_values),
    *(retype, reinterpret, reshape, reshape, drop_rows, add_rows),
    *(extreme_values, extreme_values, change_values, nasty_header, nasty_header, header_length),
]
ARRAYS = [*BYTES, *WHOLE_ARRAYS]
