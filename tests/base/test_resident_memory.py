"""Pages of mapped files are let go of, and come back as they were."""

import numpy as np
import pytest

from phrasebeam.base.resident_memory import release_pages, release_pages_above, resident_memory

SIZE = 1 << 25


@pytest.fixture
def mapped(tmp_path):
    """An array in a file, all of it touched; a view, as models have them."""
    np.full(SIZE // 8, 7, np.int64).tofile(tmp_path / "array")
    array = np.asarray(np.memmap(tmp_path / "array", np.int64, "c"))[2:].view(np.uint64)
    assert (array == 7).all()
    return array


def held():
    found = resident_memory()
    if found is None:
        pytest.skip("this system does not say what a process holds")
    return found


def test_release_pages(mapped):
    before, own = held(), np.arange(3)
    release_pages(mapped, own)
    after = held()
    assert before.mapped - after.mapped > SIZE // 2
    assert before.all - after.all > SIZE // 2
    assert (mapped == 7).all()
    assert own.tolist() == [0, 1, 2]


def test_what_was_written_to_a_shared_mapping_stays(tmp_path):
    array = np.lib.format.open_memmap(tmp_path / "array.npy", "w+", np.int64, (1000,))
    array[:] = np.arange(1000)
    release_pages(array)
    assert array.tolist() == list(range(1000))
    array.flush()
    assert np.load(tmp_path / "array.npy").tolist() == list(range(1000))


def test_only_beyond_the_bound(mapped):
    before = held()
    release_pages_above(before.all + SIZE, mapped)
    assert abs(held().mapped - before.mapped) < SIZE // 2
    release_pages_above(min(before.all - SIZE // 2, 3 * before.mapped), mapped)
    assert before.mapped - held().mapped > SIZE // 2
