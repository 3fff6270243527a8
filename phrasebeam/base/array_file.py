"""Arrays in .npy files: written row by row if their number of rows is not known in advance, and mapped into memory.

The header of a file is matched with a pattern, never evaluated, and its size is compared with what the header says
before the file is mapped, so that a damaged file is an error of one line.
"""

import math
import re
import stat
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import ArrayField, split_length
from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.base.mapped_pages import map_file
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.system.descriptors import reserve

HEADER_SIZE = 128  # bytes, in files that we write
LONGEST_HEADER = 4096  # bytes of text
LONGEST_SHOWN = 60  # characters of a header that an error shows
LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # bytes of the field with the header's length, by version of the format
MOST_COLUMNS = 1 << 31  # of an array without rows: the size of its file is no bound on them
HEADER = re.compile(
    r"\{'descr': '([<>|=][A-Za-z]\d{0,9})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,18}(?:, \d{1,18}){0,3},?)?)\)(?:, )?\}\s*"
)
LARGEST_NUMBER = 1e30  # largest float in an undamaged file: sums of products of such numbers are finite
LARGEST_COUNT = (1 << 53) - 1  # largest signed integer in an undamaged file
COPY_AGAIN = "copy the file again"
TYPE_NAMES = {np.dtype(code).str: np.dtype(code).name for code in "?bBhHiIqQefd"}  # on this machine, by dtype.str


class ArrayHeader(NamedTuple):
    """The header of an .npy file."""

    dtype: str  # byte order, kind and bytes, as in numpy's dtype.str
    is_fortran: bool  # whether columns, not rows, are contiguous
    shape: tuple[int, ...]
    size: int  # bytes of the header

    def __str__(self) -> str:
        order = " in Fortran order" if self.is_fortran else ""
        return f"{TYPE_NAMES.get(self.dtype, self.dtype)} of shape {_shape_text(self.shape)}{order}"


class ArrayWriter:
    """An .npy file to which rows of `row_shape` are appended; `close` writes the header into space left for it."""

    def __init__(self, path: Path, dtype: np.dtype | type, row_shape: tuple[int, ...] = ()):
        self.path, self.dtype, self.row_shape, self.n_rows = path, np.dtype(dtype), row_shape, 0
        self.file = open(path, "wb")
        self.file.write(bytes(HEADER_SIZE))

    def append(self, rows: np.ndarray) -> None:
        """Write `rows` ([K, *row_shape], converted to dtype) at the end.

        Raises ValueError for another shape, OSError, which names the file, if the disk is full.
        """
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != self.row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.row_shape}")
        with named_in_errors(self.path):
            self.file.write(rows.data)
        self.n_rows += len(rows)

    def close(self) -> None:
        """Write the header and close the file. Raises OSError, which names the file."""
        with named_in_errors(self.path), self.file:
            self.file.seek(0)
            self.file.write(npy_header(self.dtype, (self.n_rows, *self.row_shape)))


def npy_header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The header of an .npy file that holds an array of `dtype` and `shape`: always HEADER_SIZE bytes."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape}).encode("ascii")
    magic = np.lib.format.magic(1, 0)
    text_size = HEADER_SIZE - len(magic) - 2
    return magic + text_size.to_bytes(2, "little") + text.ljust(text_size - 1) + b"\n"


def new_array_file(path: Path, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Zeros in a new .npy file, mapped: what is written to the array goes to the file.

    Raises OSError, which names the file, if the disk has no room for all of it.
    """
    size = math.prod(shape) * dtype.itemsize
    with named_in_errors(path), open(path, "wb") as file:
        file.write(npy_header(dtype, shape))
        file.flush()
        if size:
            reserve(file.fileno(), HEADER_SIZE, size)  # otherwise a disk that is full later would end the process
    if not size:
        return np.empty(shape, dtype)
    return map_file(path, dtype, "r+", HEADER_SIZE, shape)


def map_array(path: Path, declared: ArrayField, sizes: dict[str, int], mend: str = COPY_AGAIN) -> np.ndarray:
    """The array of an .npy file, memory-mapped copy-on-write (so that kernels see ordinary arrays).

    Its dtype and shape must be the `declared` ones. A name in the shape stands for its number in `sizes`; a name that
    `sizes` does not have is added, with the number in the file. `mend`: what a user should do about a damaged file.
    Raises ModelError if the file is missing, FormatError if it is damaged or holds another array.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise FormatError(path, f"not a regular file, expected an .npy array; {mend}")
        with open(path, "rb") as file:
            header = _read_header(file)
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; {mend}") from None
    except ValueError as error:
        raise FormatError(path, f"not a whole .npy array ({error}); {mend}") from None
    if problem := _misfit(header, declared, sizes):
        raise FormatError(path, f"{problem}; {mend}")
    if problem := _wrong_size(header, declared, found.st_size):
        raise FormatError(path, f"not a whole .npy array ({problem}); {mend}")
    sizes.update(_new_sizes(declared.shape, header.shape, sizes) or {})
    if found.st_size == header.size:
        return np.empty(header.shape, declared.dtype)
    return map_file(path, declared.dtype, "c", header.size, header.shape)


def array_in(content: bytes, declared: ArrayField, sizes: dict[str, int]) -> np.ndarray:
    """The array of an .npy file whose content has been read; dtype, shape and `sizes` as for map_array.

    The numbers are checked, too. Raises ValueError, saying what is wrong.
    """
    header = _read_header(BytesIO(content))
    if problem := _misfit(header, declared, sizes) or _wrong_size(header, declared, len(content)):
        raise ValueError(problem)
    sizes.update(_new_sizes(declared.shape, header.shape, sizes) or {})
    found = np.frombuffer(content, declared.dtype, offset=header.size).reshape(header.shape).copy()
    _check_numbers(found, declared)
    return found


def _check_numbers(found: np.ndarray, declared: ArrayField) -> None:
    """Raise ValueError for numbers that no computation can give, and for numbers that do not fit the declaration."""
    if declared.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # a signalling NaN would warn
            if not (np.abs(found) <= LARGEST_NUMBER).all():
                raise ValueError(f"a number beyond {LARGEST_NUMBER:g}, or not a number")
    elif declared.dtype.kind == "i" or declared.below is not None:
        largest = LARGEST_COUNT if declared.below is None else declared.below - 1
        if found.size and not 0 <= found.min() <= found.max() <= largest:
            raise ValueError(f"numbers of {found.min()} to {found.max()}, expected 0 to {largest}")


def _read_header(file: BinaryIO) -> ArrayHeader:
    """The header of an .npy file. Raises ValueError, saying what is wrong with it, or OSError."""
    magic = np.lib.format.MAGIC_PREFIX
    start = file.read(len(magic) + 2)
    if start[: len(magic)] != magic or len(start) < len(magic) + 2:
        raise ValueError("another kind of file, or an empty file")
    version = start[len(magic)]
    if version not in LENGTH_BYTES:
        raise ValueError(f"version {version} of the format, expected 1 to 3")
    length = int.from_bytes(file.read(LENGTH_BYTES[version]), "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"a header of {length} bytes, expected at most {LONGEST_HEADER}")
    text = file.read(length).decode("latin-1")
    match = HEADER.fullmatch(text)
    if match is None:
        raise ValueError(f"header {repr(text)[:LONGEST_SHOWN]}..., expected type, order and shape of numbers")
    shape = tuple(int(size) for size in re.findall(r"\d+", match[3]))
    if 0 in shape and max(shape) > MOST_COLUMNS:
        raise ValueError(f"shape {_shape_text(shape)}, expected at most {MOST_COLUMNS} columns")
    return ArrayHeader(match[1], match[2] == "True", shape, len(start) + LENGTH_BYTES[version] + length)


def _misfit(header: ArrayHeader, declared: ArrayField, sizes: Mapping[str, int]) -> str:
    """A message about the part of the header that is not as declared; "" if it fits."""
    is_row_major = not header.is_fortran or len(header.shape) < 2
    is_declared = is_row_major and header.dtype == declared.dtype.str
    if is_declared and _new_sizes(declared.shape, header.shape, sizes) is not None:
        return ""
    return f"{header}, expected {_expected(declared, sizes)}"


def _wrong_size(header: ArrayHeader, declared: ArrayField, n_bytes: int) -> str:
    """A message with the actual size of a file and the one in its header; "" if they are equal."""
    expected = header.size + math.prod(header.shape) * declared.dtype.itemsize
    return "" if n_bytes == expected else f"{n_bytes} bytes, expected {expected} of {header}"


def _new_sizes(
    declared: tuple[int | str, ...], shape: tuple[int, ...], sizes: Mapping[str, int]
) -> dict[str, int] | None:
    """The sizes that `shape` tells and that `sizes` does not have; None if the shape is not as declared."""
    new = dict[str, int]()
    if len(declared) != len(shape):
        return None
    for length, n in zip(declared, shape):
        if isinstance(length, int):
            if n != length:
                return None
            continue
        name, more = split_length(length)
        if n < more or sizes.get(name, n - more) != n - more:
            return None
        new[name] = n - more
    return new


def _expected(declared: ArrayField, sizes: Mapping[str, int]) -> str:
    """The declared dtype and shape in words, with the sizes that are known as numbers."""
    lengths = []
    for length in declared.shape:
        name, more = split_length(length) if isinstance(length, str) else ("", 0)
        lengths.append(sizes[name] + more if name in sizes else length)
    return f"{declared.dtype} of shape {_shape_text(lengths)}"


def _shape_text(shape: Sequence[int | str]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
