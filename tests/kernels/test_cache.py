"""A cache of kernels that is damaged, foreign, full or not there costs time, and one line; nothing else."""

import errno
import os
import pickle
import subprocess
import sys
import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pytest

from phrasebeam.kernels.compilation import cache
from phrasebeam.kernels.compilation import cache as cache_cleaning
from phrasebeam.kernels.compilation.argument_kinds import kinds_of, spelled
from phrasebeam.kernels.jit import kernel
from tests import ROOT

pytestmark = pytest.mark.needs_jit
MARK = "unpickled"  # name of a file that must never appear


def plus_one(x):
    return x + 1


def plus_two(x):
    return x + 2


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The directory that holds the cache, as yet empty."""
    monkeypatch.setenv("PHRASEBEAM_CACHE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def no_warning_yet(monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())


def call(function=plus_one):
    """What the kernel returns for 1 in a new process, and whether it came from the cache."""
    compiled = kernel(function)
    return compiled(1), compiled.n_loaded > 0


def entry(home, name="plus_one"):
    (path,) = (home / "kernels").glob(f"*/*{name}*.kernel")
    return path


def warnings(caplog):
    found = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    caplog.clear()
    assert all("\n" not in line for line in found)
    return found


class Trap:
    """What runs when it is unpickled."""

    def __reduce__(self):
        return open, (MARK, "w")


def flip(place):
    def damage(path):
        data = bytearray(path.read_bytes())
        data[place] ^= 1
        path.write_bytes(data)

    return damage


def put(data):
    return lambda path: path.write_bytes(data)


def make_directory(path):
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def make_link(path):
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def put_other_kernel(path):
    assert call(plus_two)[0] == 3
    other = entry(path.parent.parent.parent, "plus_two")
    path.write_bytes(other.read_bytes())


def put_other_version(path):
    """The same kernel, of other sources."""
    content = cache._read(path)
    path.write_bytes(cache._digest(path.parent.with_name("0" * 16) / path.name, content) + content)


def put_class_that_is_gone(path):
    cache._write(path, pickle.dumps(Trap()).replace(b"open", b"epon"))


DAMAGES = {
    "empty": put(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "cut within the digest": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "extended": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "garbage": put(np.random.default_rng(1).bytes(5000)),
    "a pickle": put(pickle.dumps(Trap())),
    "a pickle behind a digest of zeroes": put(bytes(cache.DIGEST_SIZE) + pickle.dumps(Trap())),
    **{f"bit at {place}": flip(place) for place in (0, cache.DIGEST_SIZE, 3000, -1)},
    "of another kernel": put_other_kernel,
    "of another version": put_other_version,
    "of another type": lambda path: cache._write(path, pickle.dumps(42)),
    "of a class that is gone": put_class_that_is_gone,
    "written by others": lambda path: path.chmod(0o666),
    "written by the group": lambda path: path.chmod(0o620),
    "directory": make_directory,
    "link": make_link,
    "pipe": make_pipe,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_compiled_again(home, caplog, damage):
    assert [call(), call()] == [(2, False), (2, True)]
    damage(entry(home))
    assert not warnings(caplog)
    assert call() == (2, False)
    (line,) = warnings(caplog)
    assert line.startswith(f"kernel cache: {entry(home)}: ")
    assert line.endswith("; compiling again what cannot be loaded")
    assert call() == (2, True)
    assert not warnings(caplog)
    assert not (home.parent / MARK).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_others_is_compiled_again(home, caplog):
    call()
    os.chown(entry(home), 12345, -1)
    assert [call(), call()] == [(2, False), (2, True)]
    assert "others may have written it" in warnings(caplog)[0]


def test_what_cannot_be_read_is_compiled_again(home, caplog, monkeypatch):
    call()

    def refuse(path, flags):  # root may read everything
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(cache, "open_without_links", refuse)
    assert call() == (2, False)
    assert [f"{entry(home)}: Permission denied;" in line for line in warnings(caplog)] == [True]
    monkeypatch.undo()


def test_a_missing_file_is_no_damage(home, caplog):
    call()
    entry(home).unlink()
    assert [call(), call()] == [(2, False), (2, True)]
    assert not warnings(caplog)


def test_of_many_damages_the_first_is_told(home, caplog):
    for function in (plus_one, plus_two):
        call(function)
        entry(home, function.__name__).write_bytes(b"")
    assert [call(), call(plus_two)] == [(2, False), (3, False)]
    assert len(warnings(caplog)) == 1


def test_only_the_user_can_read_and_write_the_cache(home):
    call()
    path = entry(home)
    modes = [one.stat().st_mode & 0o777 for one in (path, path.parent, home / "kernels")]
    assert modes == [0o600, 0o700, 0o700]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def a_file_in_the_way(home, monkeypatch):
    home.write_text("")
    return home, "Not a directory"


def no_home(home, monkeypatch):
    monkeypatch.delenv("PHRASEBEAM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", str)  # as without HOME, and without an entry in /etc/passwd
    return "no place", "there is no home directory"


def full_disk(home, monkeypatch):
    monkeypatch.setattr(cache.tempfile, "mkstemp", lambda *_: (os.open("/dev/full", os.O_WRONLY), str(home / "part")))
    return home / "kernels", "No space left on device"


@pytest.mark.parametrize("obstacle", [a_file_in_the_way, no_home, full_disk])
def test_without_a_place_kernels_are_compiled_in_each_run(home, caplog, monkeypatch, obstacle):
    place, reason = obstacle(home, monkeypatch)
    assert [call(), call(plus_two), call()] == [(2, False), (3, False), (2, False)]
    (line,) = warnings(caplog)
    assert line.startswith(f"kernel cache: {place}")
    assert f": {reason}; kernels are compiled again in each run" in line
    assert not list(home.parent.glob("~*"))
    monkeypatch.undo()


class One(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def first(pair):
    return pair.first[0]


def test_tuples_with_other_fields_are_other_types(home):
    class Swapped(NamedTuple):
        second: np.ndarray
        first: np.ndarray

    Swapped.__name__, Swapped.__qualname__ = One.__name__, One.__qualname__
    arrays = np.array([1.0]), np.array([2.0])
    assert [kernel(first)(kind(*arrays)) for kind in (One, Swapped)] == [1, 2]
    kinds = [kinds_of(((1, 2), kind(*arrays))) for kind in (One, Swapped)]
    assert spelled(kinds[0]) != spelled(kinds[1])


def test_kernels_with_variables_of_functions_are_not_cached(home):
    for factor in (2, 3):

        def times(x):
            return x * factor  # noqa: B023

        assert kernel(times)(1) == factor
    assert not home.exists()


def test_what_nobody_uses_is_removed(home, monkeypatch):
    call()
    used = entry(home).parent
    old, odd = used.with_name("0" * 16), used.with_name("1" * 16)
    other = used.with_name("linux-6.1")  # another program's
    for directory in (old, odd, other):
        directory.mkdir()
        (directory / f"x{cache_cleaning.PART}").touch()
    (odd / "x.kernel").touch()
    age(old, 91)
    age(other, 91)
    age(odd / f"x{cache_cleaning.PART}", 2)
    age(used, 91)
    assert call() == (2, True)  # now it is of today
    assert [call(plus_two), old.exists()] == [(3, False), True]  # once a day
    age(home / "kernels" / cache_cleaning.CLEANED, 2)
    entry(home, "plus_two").unlink()
    assert [call(plus_two), old.exists()] == [(3, False), False]
    assert [path.name for path in odd.iterdir()] == ["x.kernel"]
    assert [path.name for path in other.iterdir()] == [f"x{cache_cleaning.PART}"]
    assert call() == (2, True)


def age(path, days):
    then = time.time() - days * cache_cleaning.DAY
    os.utime(path, (then, then))


COMPILING = "compiling kernels (first run only)"
ENVIRONMENT = {"NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}


def start(home, output, stderr=subprocess.PIPE):
    """Start clustering the words of a small text to the file `output`."""
    text = output.with_name("text")
    text.write_text("a b c d\nthe dog sleeps .\n")
    command = [sys.executable, "-m", "phrasebeam", "cluster", "--text", str(text), "--classes", "2"]
    command += ["--min-count", "1", "--output", str(output)]
    variables = {**os.environ, **ENVIRONMENT, "PHRASEBEAM_CACHE": str(home)}
    return subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=stderr, text=True)


def run(home, output):
    """What the command wrote to the file `output`, and to standard error."""
    process = start(home, output)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return output.read_text(), errors.splitlines()


def run_on_terminal(home, output):
    terminal, stderr = os.openpty()
    process = start(home, output, stderr)
    os.close(stderr)
    shown = b""
    with suppress(OSError):  # Linux raises it when the process has closed the terminal
        while piece := os.read(terminal, 1 << 16):
            shown += piece
    os.close(terminal)
    assert process.wait() == 0, shown
    return output.read_text(), shown.decode()


def test_a_command_runs_with_any_cache(home, tmp_path):
    output, shown = run_on_terminal(home, tmp_path / "first")
    assert COMPILING in shown
    assert "clustering 8 words" in shown
    paths = sorted((home / "kernels").glob("*/*.kernel"))
    again, shown = run_on_terminal(home, tmp_path / "again")
    assert again == output
    assert COMPILING not in shown
    for path in paths:
        path.write_bytes(path.read_bytes()[:-1])
    for n_lines in (1, 0):
        again, errors = run(home, tmp_path / "again")
        assert again == output
        assert sum(line.startswith("kernel cache: ") for line in errors) == n_lines
        assert errors.count(COMPILING) == n_lines


def test_commands_may_fill_the_cache_at_once(home, tmp_path):
    outputs = [tmp_path / str(number) for number in range(2)]
    processes = [start(home, output) for output in outputs]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "kernel cache" not in errors
    assert len({output.read_text() for output in outputs}) == 1
    for path in (home / "kernels").glob("*/*"):
        assert path.suffix == ".kernel"
        assert cache._read(path)
