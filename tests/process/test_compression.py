"""Compressed files: recognised by content, written as their names say, always with the same bytes."""

import gzip
import sys

import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines

LINES = [f"line {i}" for i in range(10_000)]


def write(path):
    with atomic_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in LINES)
    return path.read_bytes()


def test_gzip(tmp_path):
    path = tmp_path / "text.gz"
    data = write(path)
    assert gzip.decompress(data).decode().splitlines() == [*read_lines(path)] == LINES
    assert write(path) == data == write(tmp_path / "other.gz")
    assert write(tmp_path / "text").startswith(b"line 0\n")


def test_zstandard(tmp_path):
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    path = tmp_path / "text.zst"
    data = write(path)
    assert len(data) < 60_000
    path.rename(tmp_path / "renamed")
    assert [*read_lines(tmp_path / "renamed")] == LINES
    for damaged in (data[:-20], data[:50] + b"xxxx" + data[54:]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="damaged compressed data after line"):
            list(read_lines(path))


def test_without_zstandard(tmp_path, monkeypatch):
    for name in ("compression", "backports"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "text.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    for use in (lambda: [*read_lines(path)], lambda: write(path)):
        with pytest.raises(OSError, match="Zstandard is not installed; pip install") as raised:
            use()
        assert raised.value.filename == str(path)
