"""Pages of mapped files are let go of, and come back as they were."""

import subprocess
import sys

import numpy as np
import pytest

from phrasebeam.base.mapped_pages import let_release, release_all
from phrasebeam.system.memory_use import descendants, peak_memory, proportional_memory, resident_memory

SIZE = 1 << 25

if resident_memory() is None:
    pytest.skip("this system does not say what a process holds", allow_module_level=True)


@pytest.fixture
def mapped(tmp_path):
    """An array in a file, all of it touched; a view, as models have them."""
    np.full(SIZE // 8, 7, np.int64).tofile(tmp_path / "array")
    array = np.asarray(np.memmap(tmp_path / "array", np.int64, "c"))[2:].view(np.uint64)
    assert (array == 7).all()
    return array


def test_pages_are_released_where_that_is_allowed(mapped):
    before = resident_memory()
    release_all()
    assert before.mapped - resident_memory().mapped < SIZE // 2
    assert let_release(mapped) is mapped
    release_all()
    after = resident_memory()
    assert before.mapped - after.mapped > SIZE // 2
    assert before.all - after.all > SIZE // 2
    assert (mapped == 7).all()


def test_arrays_in_memory_stay():
    own = let_release(np.arange(3))
    release_all()
    assert own.tolist() == [0, 1, 2]


def test_what_was_written_to_a_shared_mapping_stays(tmp_path):
    array = let_release(np.lib.format.open_memmap(tmp_path / "array.npy", "w+", np.int64, (1000,)))
    array[:] = np.arange(1000)
    release_all()
    assert array.tolist() == list(range(1000))
    array.flush()
    assert np.load(tmp_path / "array.npy").tolist() == list(range(1000))


def test_peak():
    before = peak_memory()
    ones = np.ones((resident_memory().all + SIZE) // 8)
    assert peak_memory() >= max(before, ones.nbytes)


def test_other_processes():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process.pid in set(descendants())
        assert 0 < proportional_memory(process.pid) < 1 << 28
        process.stdin.close()
    assert process.pid not in set(descendants())
    assert proportional_memory(process.pid) == 0
