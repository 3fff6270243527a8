"""The bound on memory: what it means, that it is kept, and what is said where it cannot be."""

import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import phrasebeam
from phrasebeam.base import memory_bound
from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.mapped_pages import let_release, release_all
from phrasebeam.base.memory_bound import (
    DEFAULT_MEMORY,
    LEAST_MEMORY,
    MemoryBound,
    MemorySettings,
    end_memory_bound,
    keep_memory,
    memory_left,
    memory_option,
)
from phrasebeam.base.options import options_of
from phrasebeam.base.side_by_side import run_side_by_side
from phrasebeam.cli import COMMANDS
from phrasebeam.process.children import module_command
from phrasebeam.system.memory_use import ResidentMemory, resident_memory
from tests import ROOT

SIZE = 1 << 26
WITHOUT = {"preprocess", "join-features", "explain", "evaluate", "select", "cluster", "config", "demo"}
WITHOUT |= {"demo-corpus", "warm-up"}

if resident_memory() is None:
    pytest.skip("this system does not say what a process holds", allow_module_level=True)


@pytest.fixture(autouse=True)
def ended():
    """No bound is left over, and no pages of other tests are there to be released."""
    release_all()
    yield
    end_memory_bound()


def test_options():
    assert memory_option(None) == DEFAULT_MEMORY == MemorySettings().memory
    assert memory_option("3G") == 3 << 30
    assert memory_option("384M") == LEAST_MEMORY
    for wrong in ("383M", "0", "much"):
        with pytest.raises(ConfigError, match="options: memory: should be a"):
            memory_option(wrong)


def test_all_commands_mean_the_same():
    for name in COMMANDS:
        option = options_of(getattr(phrasebeam, name.replace("-", "_"))).get("memory")
        assert (option is not None and option.section == MemorySettings) == (name not in WITHOUT), name


def test_there_is_one_declaration():
    def all_subclasses(section):
        return {section, *(found for one in section.__subclasses__() for found in all_subclasses(one))}

    for section in all_subclasses(Section):
        named = [name for name in section.model_fields if name.endswith("memory")]
        assert named == (["memory"] if issubclass(section, MemorySettings) else []), section


@pytest.mark.parametrize(("held", "left"), [(0, 0.875), (0.5, 0.375), (2, 1 / 16), (None, 0.375)])
def test_what_is_left(monkeypatch, held, left):
    bound = 1 << 34
    found = None if held is None else ResidentMemory(int(held * bound), 0)
    monkeypatch.setattr(memory_bound, "resident_memory", lambda: found)
    assert memory_left(bound) == left * bound


def test_mapped_pages_are_released_in_time(tmp_path):
    np.full(4 * SIZE // 8, 7, np.int64).tofile(tmp_path / "array")
    before = resident_memory().all
    keep_memory(before + memory_bound.RESERVE + SIZE // 2)
    array = let_release(np.asarray(np.memmap(tmp_path / "array", np.int64, "c")))
    most = 0
    for begin in range(0, array.size, 1 << 16):  # half a megabyte
        assert (array[begin : begin + (1 << 16)] == 7).all()
        time.sleep(0.001)
        most = max(most, resident_memory().all)
    assert most < before + 2 * SIZE
    assert end_memory_bound() == ""


def test_room_for_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(memory_bound.MemoryBound, "_watch", lambda self: None)  # the thread comes too late
    np.full(4 * SIZE // 8, 7, np.int64).tofile(tmp_path / "array")
    array = let_release(np.asarray(np.memmap(tmp_path / "array", np.int64, "c")))
    assert memory_bound.room_for_pages() == math.inf
    keep_memory(resident_memory().all + 16 * SIZE)
    assert memory_bound.room_for_pages() == math.inf
    end_memory_bound()
    before = resident_memory().all
    keep_memory(before + memory_bound.RESERVE + SIZE)
    assert 0 < memory_bound.room_for_pages() <= SIZE
    assert (array == 7).all()
    assert resident_memory().all > before + 3 * SIZE
    assert 0 < memory_bound.room_for_pages() <= 2 * SIZE
    assert resident_memory().all < before + 2 * SIZE


def test_what_cannot_be_kept_is_reported():
    n_bytes = resident_memory().all + SIZE
    keep_memory(n_bytes)
    ones = np.ones(2 * SIZE // 8)
    ones += 1
    time.sleep(0.05)
    expected = f"more than --memory {memory_bound.format_size(n_bytes)}; give more, or less data"
    assert expected in end_memory_bound()
    assert ones[0] == 2.0
    assert end_memory_bound() == ""


def test_other_processes_count(monkeypatch):
    monkeypatch.setattr(memory_bound, "SECONDS_BETWEEN_PROCESSES", 0.01)
    keep_memory(resident_memory().all + SIZE)
    program = f"ones = b'1' * {4 * SIZE}; print(); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1) as process:
        process.stdout.readline()
        time.sleep(0.7)
        process.stdin.close()
    found = end_memory_bound()
    assert f"of it in {os.path.basename(sys.executable)}, more than --memory" in found
    assert found.endswith("; give more, fewer --threads, or less data")


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_forked_processes_share_the_bound():
    keep_memory(3 << 30)

    def bound(piece, advance):
        return memory_bound._bound.n_bytes, memory_bound._bound._thread.is_alive()

    assert run_side_by_side(bound, [0, 1], 2, lambda n: None) == [(1 << 30, True)] * 2
    assert memory_bound._bound.n_bytes == 3 << 30
    assert memory_bound._bound._thread.is_alive()


def test_names_of_processes(monkeypatch):
    command, environment = module_command("phrasebeam.training.word_alignment.align_direction")
    command.append(str(os.getpid()))  # the parent
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=environment) as process:
        while memory_bound._name_of(process.pid) != "align_direction":
            assert process.poll() is None
        process.kill()
    assert memory_bound._name_of(process.pid) == ""


def test_without_proc(monkeypatch):
    monkeypatch.setattr(memory_bound, "resident_memory", lambda: None)
    monkeypatch.setattr(memory_bound, "peak_memory", lambda: 0)
    monkeypatch.setattr(memory_bound, "descendants", list)
    bound = MemoryBound(1)
    bound.stop()
    assert bound.report() == ""


def test_it_is_kept_where_no_file_can_be_opened_for_a_while():
    script = """
import os, resource, threading, time
from phrasebeam.base.memory_bound import MemoryBound
bound = MemoryBound(1 << 30)
while not bound.peak:
    time.sleep(0.01)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
ballast = b"x" * (64 << 20)
time.sleep(0.6)  # it looks at processes, too
bound.peak = 0
time.sleep(0.3)
print(bound.peak > len(ballast), bound._thread.is_alive())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout, done.stderr) == ("True True\n", "")
