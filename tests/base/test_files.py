"""Text as people hand it over, and files that appear whole or not at all."""

import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base import files
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_directory, atomic_file, open_binary, read_lines, read_standard_input
from phrasebeam.process.hints import begin_hints, end_hints
from tests import ROOT

TEXT = "one\n\nz\u00e9ro \u2028 deux\x85\r\n\x0ctrois"
LINES = ["one", "", "z\u00e9ro \u2028 deux\x85", "\x0ctrois"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(("text", "lines"), [(TEXT, LINES), (TEXT + "\n", LINES), ("", []), ("\n", [""])])
def test_lines(tmp_path, compress, text, lines):
    path = tmp_path / "text"
    path.write_bytes(compress(text.encode("utf-8")))
    assert list(read_lines(path)) == lines
    with open_binary(path) as file:
        assert file.read() == text.encode("utf-8")


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_line_without_end_is_not_read(tmp_path, compress, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    (tmp_path / "text").write_bytes(compress(b"a" * 98 + b"\n" + b"b" * 10**6))
    lines = read_lines(tmp_path / "text")
    assert next(lines) == "a" * 98
    with pytest.raises(FormatError, match="text:2: a line of 100 bytes or more"):
        next(lines)


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_bad_utf8_is_named_with_its_line(tmp_path, compress):
    path = tmp_path / "text"
    path.write_bytes(compress(b"a\nb c\nd \xe9t\xe9\n"))
    lines = read_lines(path)
    assert [next(lines), next(lines)] == ["a", "b c"]
    with pytest.raises(FormatError, match=f"^{path}:3: byte 0xe9 at column 3 is not UTF-8") as caught:
        next(lines)
    assert (caught.value.path, caught.value.line) == (path, 3)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:5],
        lambda data: data[:-8] + b"\0\0\0\0" + data[-4:],  # check sum
        lambda data: data[:2] + b"\x07" + data[3:],  # compression method
        lambda data: data[:40] + bytes(byte ^ 0x55 for byte in data[40:80]) + data[80:],
        lambda data: data + b"more",
    ],
)
def test_damaged_gzip(tmp_path, damage):
    path = tmp_path / "text.gz"
    path.write_bytes(damage(gzip.compress("".join(f"line {i * i}\n" for i in range(300)).encode())))
    with pytest.raises(FormatError, match=f"^{path}: damaged compressed data after line .*copy the file again"):
        list(read_lines(path))


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("is_slow", [False, True])
def test_standard_input_is_read_as_files_are(monkeypatch, compress, is_slow):
    """Also where the first byte comes alone."""
    reader, writer = os.pipe()
    data = compress(b"\xef\xbb\xbf" + TEXT.encode())

    def write():
        for part in (data[:1], data[1:]) if is_slow else (data,):
            os.write(writer, part)
            time.sleep(0.05)
        os.close(writer)

    with open(reader) as file:
        monkeypatch.setattr(sys, "stdin", file)
        thread = threading.Thread(target=write)
        thread.start()
        assert list(read_standard_input()) == LINES
        thread.join()


def test_damaged_gzip_on_standard_input(tmp_path, monkeypatch):
    (tmp_path / "text").write_bytes(gzip.compress(TEXT.encode())[:-9])
    with (
        open(tmp_path / "text") as file,
        pytest.raises(FormatError, match="standard input: damaged compressed data"),
    ):
        monkeypatch.setattr(sys, "stdin", file)
        list(read_standard_input())


def test_a_byte_order_mark_is_left_out_and_a_hint_tells(tmp_path):
    path = tmp_path / "text"
    path.write_text("\ufeffein\n\ufeffhaus\n", encoding="utf-8")
    begin_hints()
    assert [list(read_lines(path)) for _ in range(2)] == [["ein", "\ufeffhaus"]] * 2
    assert end_hints() == [f"{path}: begins with a byte order mark (BOM), which was removed"]


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(read_lines(tmp_path / "nowhere"))


@given(st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"])))
@settings(max_examples=50)
def test_any_line_comes_back(tmp_path_factory, line):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(f"{line}\n".encode())
    assert list(read_lines(path)) == [line]


def test_an_atomic_file_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "deep" / "er" / "file"
    for content in (b"old", b"new"):
        with atomic_file(path) as file:
            file.write(content)
            file.seek(0)
            assert file.read() == content
            assert not path.exists() or path.read_bytes() == b"old"
        assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def test_an_atomic_directory_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "deep" / "directory"
    for name in ("old", "new"):
        with atomic_directory(path) as directory:
            (directory / name).write_text(name)
            assert not (path / name).exists()
        assert [entry.name for entry in path.iterdir()] == [name]
    assert [entry.name for entry in path.parent.iterdir()] == ["directory"]
    assert path.stat().st_mode & 0o777 == 0o777 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def put_old(tmp_path, writer):
    if writer is atomic_file:
        (tmp_path / "kept").write_text("old")
    else:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "content").write_text("old")


def content(tmp_path):
    kept = tmp_path / "kept"
    return (kept if kept.is_file() else kept / "content").read_text()


@pytest.mark.parametrize("writer", [atomic_file, atomic_directory])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_exception_leaves_the_old(tmp_path, writer, error):
    put_old(tmp_path, writer)
    with pytest.raises(error), writer(tmp_path / "kept") as new:
        _ = new.write(b"half") if writer is atomic_file else (new / "content").write_text("half")
        raise error
    assert content(tmp_path) == "old"
    assert len(list(tmp_path.iterdir())) == 1


KILLED = """
import os, signal, sys
from phrasebeam.base.files import {name}
with {name}(sys.argv[1]) as new:
    (new.write(b"half"), new.flush()) if "{name}" == "atomic_file" else (new / "content").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("writer", [atomic_file, atomic_directory])
def test_a_killed_process_leaves_the_old(tmp_path, writer):
    put_old(tmp_path, writer)
    command = [sys.executable, "-c", KILLED.format(name=writer.__name__), str(tmp_path / "kept")]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert content(tmp_path) == "old"


def test_a_link_to_a_directory_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with atomic_directory(tmp_path / "link") as directory:
        (directory / "content").touch()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "content").exists()


def test_a_link_to_itself_in_the_way_of_a_directory(tmp_path):
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(NotADirectoryError, match="link"), atomic_directory(tmp_path / "link"):
        pytest.fail("nothing should be written")


def test_a_file_in_the_way_of_a_directory(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(NotADirectoryError, match="file"), atomic_directory(tmp_path / "file"):
        pytest.fail("nothing should be written")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_atomic_file_does_not_replace_a_device():
    with atomic_file(os.devnull) as file:
        file.write(b"gone")
    assert not Path(os.devnull).is_file()


def test_an_atomic_file_does_not_replace_an_open_one(tmp_path):
    with open(tmp_path / "open", "wb") as file:
        with atomic_file(f"/dev/fd/{file.fileno()}") as same:
            same.write(b"text")
        assert os.fstat(file.fileno()).st_ino == (tmp_path / "open").stat().st_ino
    assert (tmp_path / "open").read_bytes() == b"text"
    assert os.listdir(tmp_path) == ["open"]


def test_errors_of_standard_input_name_it(tmp_path, monkeypatch):
    with open(tmp_path / "written", "w") as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(OSError, match="Bad file descriptor") as caught:
            next(read_standard_input())
    assert caught.value.filename == "standard input"


def test_errors_of_reading_name_the_file(tmp_path, monkeypatch):
    class Damaged(io.BytesIO):
        def read1(self, *_):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "decompressed", lambda file: Damaged())
    (tmp_path / "text").touch()
    with pytest.raises(OSError, match="Input/output error") as caught:
        next(read_lines(tmp_path / "text"))
    assert caught.value.filename == str(tmp_path / "text")
