"""Arrays come out of .npy files as they went in; whatever else a file holds is an error of one line."""

import os

import numpy as np
import pytest

from phrasebeam.base.array_file import ArrayWriter, map_array
from phrasebeam.base.array_struct import array
from phrasebeam.base.errors import FormatError, ModelError

DECLARED = array(np.float32, "N + 1", "C")
ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
TYPE = "'descr': '<f4', "
ORDER = "'fortran_order': False, "
SHAPE = "'shape': (4, 3), "


def write(path, text, version=1, length=None):
    """An .npy file with this text as header."""
    data = text.encode("latin-1") if isinstance(text, str) else text
    length = len(data) if length is None else length
    size = length.to_bytes(2 if version == 1 else 4, "little")
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + data + ROWS.tobytes())


@pytest.mark.parametrize("writer", ["rows", "numpy", "version 2", "version 3"])
def test_arrays_are_mapped(tmp_path, writer):
    path, sizes = tmp_path / "a.npy", {"N": 3}
    if writer == "rows":
        rows = ArrayWriter(path, np.float32, (3,))
        rows.append(ROWS[:3])
        rows.append(ROWS[3:])
        rows.close()
    elif writer == "numpy":
        np.save(path, ROWS)
    else:
        write(path, f"{{{TYPE}{ORDER}{SHAPE}}}\n", version=int(writer[-1]))
    found = map_array(path, DECLARED, sizes)
    assert np.array_equal(found, ROWS)
    assert found.flags.c_contiguous and found.flags.writeable and type(found) is np.ndarray
    assert sizes == {"N": 3, "C": 3}
    found[0] = 7  # in memory alone
    assert np.array_equal(np.load(path), ROWS)


def test_an_array_without_rows(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((0, 3), np.float32))
    assert map_array(tmp_path / "a.npy", array(np.float32, "N", "C"), {}).shape == (0, 3)


HEADERS = {
    "nothing": "",
    "brackets": "(" * 3000,
    "nested": "{" + "[" * 1500 + "]" * 1500 + "}",
    "an expression": "{'descr': __import__('os').getcwd(), " + ORDER + SHAPE + "}",
    "an unended string": "{'descr': '<f4, " + ORDER + SHAPE + "}",
    "a number of 4,000 digits": "{" + TYPE + ORDER + f"'shape': ({'9' * 3900}, 3), " + "}",
    "a negative shape": "{" + TYPE + ORDER + "'shape': (-4, -3), }",
    "a huge shape": "{" + TYPE + ORDER + "'shape': (4611686018427387904, 3), }",
    "a shape whose product is small modulo 2^64": "{" + TYPE + ORDER + "'shape': (4611686018427387908, 3), }",
    "no rows and many columns": "{" + TYPE + ORDER + "'shape': (0, 4611686018427387904), }",
    "a shape of floats": "{" + TYPE + ORDER + "'shape': (4.0, 3.0), }",
    "a shape of True": "{" + TYPE + ORDER + "'shape': (True, 3), }",
    "many dimensions": "{" + TYPE + ORDER + f"'shape': ({'1, ' * 40}), " + "}",
    "objects": "{'descr': '|O', " + ORDER + SHAPE + "}",
    "a structure": "{'descr': [('a', '<f4')], " + ORDER + SHAPE + "}",
    "another byte order": "{'descr': '>f4', " + ORDER + SHAPE + "}",
    "another type": "{'descr': '<f8', " + ORDER + SHAPE + "}",
    "text": "{'descr': '<U999999999', " + ORDER + SHAPE + "}",
    "a type of 200 letters": "{'descr': '" + 200 * "f" + "', " + ORDER + SHAPE + "}",
    "columns first": "{" + TYPE + "'fortran_order': True, " + SHAPE + "}",
    "an order of 0": "{" + TYPE + "'fortran_order': 0, " + SHAPE + "}",
    "no shape": "{" + TYPE + ORDER + "}",
    "one dimension": "{" + TYPE + ORDER + "'shape': (12,), }",
    "no dimension": "{" + TYPE + ORDER + "'shape': (), }",
    "three dimensions": "{" + TYPE + ORDER + "'shape': (4, 3, 1), }",
    "more rows than numbers": "{" + TYPE + ORDER + "'shape': (5, 3), }",
    "fewer rows than numbers": "{" + TYPE + ORDER + "'shape': (3, 3), }",
    "more text": "{" + TYPE + ORDER + SHAPE + "} + 1",
    "a comment": "{" + TYPE + ORDER + SHAPE + "} # \n",
    "nul bytes": "\0" * 100,
    "other bytes": bytes(range(128, 256)),
}


def assert_refused(path, sizes=None):
    with pytest.raises(FormatError) as caught:
        map_array(path, DECLARED, sizes or {}, "copy it again")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith("; copy it again")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 230


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_cannot_be(tmp_path, header):
    path = tmp_path / "a.npy"
    for version in (1, 2, 3):
        write(path, HEADERS[header], version=version)
        assert_refused(path)


@pytest.mark.parametrize(("version", "length"), [(0, 0), (4, 80), (255, 80), (1, 65535), (2, 2**32 - 1), (3, 2**31)])
def test_versions_and_lengths_of_headers_that_cannot_be(tmp_path, version, length):
    write(tmp_path / "a.npy", f"{{{TYPE}{ORDER}{SHAPE}}}\n", version=version, length=length)
    assert_refused(tmp_path / "a.npy")


def test_rows_and_columns_of_other_numbers(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    for sizes in ({"N": 4}, {"C": 4}, {"N": 2, "C": 3}):
        assert_refused(tmp_path / "a.npy", sizes)
        assert len(sizes) <= 2
    with pytest.raises(FormatError, match=r"float32 of shape \(4, 3\), expected float32 of shape \(6, C\)"):
        map_array(tmp_path / "a.npy", DECLARED, {"N": 5})
    np.save(tmp_path / "a.npy", ROWS[:0])
    assert_refused(tmp_path / "a.npy")  # N would be -1


def test_every_changed_byte_of_a_header(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, ROWS)
    whole = path.read_bytes()
    for place in range(128):
        for value in (whole[place] ^ 1, whole[place] ^ 128, 0, 255, ord("("), ord("9")):
            path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            try:
                assert np.array_equal(map_array(path, DECLARED, {}), ROWS)
            except FormatError as error:
                assert "\n" not in str(error)


def test_every_length(tmp_path):
    np.save(tmp_path / "whole.npy", ROWS)
    whole = (tmp_path / "whole.npy").read_bytes()
    for size in [*range(len(whole)), len(whole) + 1]:
        (tmp_path / "a.npy").write_bytes((whole + b"x")[:size])
        assert_refused(tmp_path / "a.npy")


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path / "pipe")
    assert_refused(tmp_path)
    with pytest.raises(ModelError, match="missing; copy"):
        map_array(tmp_path / "nothing.npy", DECLARED, {})
