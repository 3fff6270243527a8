"""Unfinished files and directories: those of killed processes are removed by the next one, those of others are not."""

import os
import signal
import subprocess
import sys
import tempfile
import threading

import pytest

from phrasebeam.base.files import atomic_directory, atomic_file, scratch_directory
from phrasebeam.process import unfinished
from tests import ROOT

BEGINS = """
import sys, time
from phrasebeam.base.files import atomic_directory, atomic_file, scratch_directory
with {name}(sys.argv[1]) as new:
    (new.write(b"half"), new.flush()) if "{name}" == "atomic_file" else (new / "content").write_text("half")
    print("begun", flush=True)
    time.sleep(60)
"""
WRITERS = [atomic_file, atomic_directory, scratch_directory]


def begin(writer, path):
    """A process that has begun to write what will be at `path`."""
    script = BEGINS.format(name=writer.__name__)
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    return process


@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, writer):
    path = tmp_path if writer is scratch_directory else tmp_path / "result"
    with begin(writer, path) as process:
        (left,) = os.listdir(tmp_path)
        with writer(path):  # the process lives
            assert left in os.listdir(tmp_path)
        assert left in os.listdir(tmp_path)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left in os.listdir(tmp_path)
    with writer(path):
        assert left not in os.listdir(tmp_path)
    assert os.listdir(tmp_path) == ([] if writer is scratch_directory else ["result"])


def test_files_of_others_stay(tmp_path):
    names = [".result.unfinished", ".result.abcdefgh.unfinished", "result.abcdefgh.phrasebeam.unfinished"]
    names += [".result.ABCDEFGH.phrasebeam.unfinished", ".result.phrasebeam.unfinished", ".result.abcdefgh.old"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".link.abcdefgh.phrasebeam.unfinished").symlink_to("elsewhere")
    with atomic_file(tmp_path / "result"):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted(
        [*names, "result", "elsewhere", ".link.abcdefgh.phrasebeam.unfinished"]
    )


@pytest.mark.parametrize("can_exchange", [True, False])
def test_of_two_writers_of_a_directory_the_last_one_wins(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(unfinished, "exchange", lambda one, other: False)
    both = threading.Barrier(2)

    def write(name):
        with atomic_directory(tmp_path / "result") as directory:
            for i in range(20):
                (directory / f"{i}").write_text(name)
            both.wait()
            if name == "second":
                first.join()

    first = threading.Thread(target=write, args=("first",))
    first.start()
    write("second")
    assert {path.read_text() for path in (tmp_path / "result").iterdir()} == {"second"}
    assert os.listdir(tmp_path) == ["result"]


def test_nothing_begins_or_ends_after_the_removal(tmp_path):
    """In a process of its own, which cannot write any more after it."""
    script = f"""
import threading
from pathlib import Path
from phrasebeam.base.files import atomic_directory
from phrasebeam.process.unfinished import remove_unfinished
folder = Path({str(tmp_path)!r})
def write():
    with atomic_directory(folder / "late"):
        pass
with atomic_directory(folder / "result") as directory:
    (directory / "content").write_text("half")
    remove_unfinished()
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(0.2)
    print([path.name for path in folder.iterdir()], flush=True)
    __import__("os")._exit(0)
"""
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT) == b"[]\n"


def test_a_directory_that_another_process_removes_at_once_is_made_again(tmp_path, monkeypatch):
    make, made = tempfile.mkdtemp, []

    def make_and_lose(*arguments):
        made.append(make(*arguments))
        if len(made) == 1:
            os.rmdir(made[0])  # before we hold its lock
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    with unfinished.unfinished_directory(tmp_path, "out") as directory:
        assert str(directory) == made[1]


@pytest.mark.parametrize("n_removed", range(5))
def test_a_directory_is_removed_whole_or_not_at_all(tmp_path, monkeypatch, n_removed):
    """The process that removes it dies when so many of its files are gone."""
    folder = tmp_path / "work" / "within"
    folder.mkdir(parents=True)
    for name in ("a", "b", "c", "d"):
        (folder / name).write_text(name)

    def remove_and_die(path, **_):
        for _, file in zip(range(n_removed), sorted(path.rglob("[a-d]")), strict=False):
            file.unlink()
        os._exit(5)

    monkeypatch.setattr(unfinished.shutil, "rmtree", remove_and_die)
    if not (child := os.fork()):
        unfinished.remove(tmp_path / "work")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    monkeypatch.undo()
    (left,) = os.listdir(tmp_path)
    assert unfinished.NAME.fullmatch(left)
    with atomic_file(tmp_path / "next"):
        pass
    assert os.listdir(tmp_path) == ["next"]


def test_files_links_and_what_is_not_there_are_removed_as_well(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    for path in (tmp_path / "folder" / "file", tmp_path / "link", tmp_path / "nothing", tmp_path / "no" / "folder"):
        unfinished.remove(path)
    assert os.listdir(tmp_path) == ["folder"]
    assert not os.listdir(tmp_path / "folder")
