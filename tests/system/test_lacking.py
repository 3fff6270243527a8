"""A system that lacks locks, forks, limits, signals and /proc, as Windows does: the same results, made otherwise.

The system is simulated, see `lacking/sitecustomize.py`: nothing of this was run on Windows or macOS.
"""

import errno
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phrasebeam.base import memory_bound
from phrasebeam.process import unfinished
from phrasebeam.process.directory_lock import locked
from phrasebeam.process.hints import begin_hints, end_hints
from phrasebeam.system import descriptors, forks, limits, locks, memory_use, optional
from tests import ROOT

FOLDER = Path(__file__).parent


@pytest.fixture
def without_fcntl(monkeypatch):
    monkeypatch.setattr(locks, "HAS_LOCKS", False)
    monkeypatch.setattr(descriptors, "fcntl", None)


def output_of(directory, *path, poor=()):
    """What the tiny training prints in a new directory, with `path` before the package on PYTHONPATH."""
    directory.mkdir()
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
    command = [sys.executable, str(FOLDER / "tiny_training.py"), *poor]
    done = subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.needs_jit
@pytest.mark.skipif(sys.platform != "linux", reason="has not all that is taken away")
def test_training_tuning_and_translations_are_the_same(tmp_path):
    assert output_of(tmp_path / "poor", FOLDER / "lacking", poor=["poor"]) == output_of(tmp_path / "plain")


def test_two_may_work_in_a_directory_where_there_are_no_locks(tmp_path, without_fcntl):
    with locked(tmp_path / "out"), locked(tmp_path / "out"):
        (tmp_path / "out" / "file").touch()


def test_what_is_unfinished_is_closed_where_no_lock_holds_it_open(tmp_path, without_fcntl):
    before = len(os.listdir("/dev/fd"))
    with unfinished.unfinished_file(tmp_path, "out") as path:
        assert len(os.listdir("/dev/fd")) == before
        unfinished.remove_abandoned(tmp_path)  # which cannot know whose it is
        path.write_text("all")
        unfinished.put_in_place(path, tmp_path / "out")
    with unfinished.unfinished_directory(tmp_path, "folder") as path:
        unfinished.put_in_place(path, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "out"]
    assert (tmp_path / "out").read_text() == "all"


def test_room_on_disk_is_written_where_it_cannot_be_asked_for(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(descriptors, "BLOCK", 64)
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"head")
        file.flush()
        descriptors.reserve(file.fileno(), 4, 1000)
    assert (tmp_path / "file").read_bytes() == b"head" + bytes(1000)
    descriptor = os.open("/dev/full", os.O_WRONLY) if os.path.exists("/dev/full") else None
    if descriptor is not None:
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            descriptors.reserve(descriptor, 0, 1000)
        os.close(descriptor)


def test_reading_at_a_place_keeps_the_position(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"0123456789")
    with open(tmp_path / "file", "rb") as file:
        descriptor = file.fileno()
        os.lseek(descriptor, 3, os.SEEK_SET)
        found = [descriptors.read_at(descriptor, 4, 5)]
        monkeypatch.delattr(os, "pread", raising=False)
        found.append(descriptors.read_at(descriptor, 4, 5))
        assert found == [b"5678"] * 2 and os.lseek(descriptor, 0, os.SEEK_CUR) == 3


def test_files_are_copied_where_they_cannot_be_shared(tmp_path, monkeypatch, without_fcntl):
    monkeypatch.setattr(descriptors, "HAS_OWNERS", False)
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        descriptors.link_read_only(tmp_path / "file", tmp_path / "other")
    with pytest.raises(OSError):
        descriptors.share_blocks(0, 1)
    descriptors.sync_directory(tmp_path / "not there")


def test_without_owners_all_files_are_this_users(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o666)
    assert descriptors.others_may_have_written((tmp_path / "file").stat())
    for name in ("geteuid", "getuid"):
        monkeypatch.delattr(os, name, raising=False)
    assert not descriptors.others_may_have_written((tmp_path / "file").stat())
    assert descriptors.user_number() == 0


def test_functions_and_modules_that_are_not_there():
    assert optional.optional_module("no_such_module") is None
    assert optional.c_function("no_such_function") is None
    assert optional.c_function("puts", "no_such_library.so") is None


def test_without_limits_there_are_none(monkeypatch):
    monkeypatch.setattr(limits, "resource", None)
    assert limits.address_space_limit() is limits.open_files_limit() is None
    assert limits.peak_of_process() == 0
    assert limits.processors() >= 1


def test_the_peak_is_told_without_proc(monkeypatch):
    told = memory_use.peak_memory()
    monkeypatch.setattr(memory_use, "_field", lambda path, name: 0)
    assert memory_use.peak_memory() == pytest.approx(told, rel=0.2)


def test_memory_that_cannot_be_kept_is_said(monkeypatch):
    monkeypatch.setattr(memory_bound, "resident_memory", lambda: None)
    begin_hints()
    memory_bound.memory_option(None)
    assert end_hints() == []
    begin_hints()
    memory_bound.memory_option("1G")
    (line,) = end_hints()
    assert line.startswith("--memory needs Linux")


def test_pages_stay_where_the_system_releases_none(monkeypatch):
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    with mmap.mmap(-1, mmap.PAGESIZE) as mapping:
        mapping[0] = 7
        memory_use.release_pages(mapping)
        assert mapping[0] == 7


def test_children_stay_where_the_system_cannot_end_them(monkeypatch):
    monkeypatch.setattr(forks, "c_function", lambda name: None)
    forks.end_with_parent(-1)
