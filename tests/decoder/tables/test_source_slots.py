"""The hash table over source phrases: the same in one part and in many, and as probing phrase by phrase makes it."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.tables import source_slots
from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.decoder.tables.source_slots import BYTES_PER_SLOT, build_slots, hash_phrases, write_slots
from phrasebeam.kernels.hashing import n_slots
from tests.naive import source_slots as naive

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

PHRASES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple), max_size=40)


def arrays(phrases):
    offsets = np.cumsum([0, *map(len, phrases)]).astype(np.int64)
    return offsets, np.array([word for phrase in phrases for word in phrase], np.int32)


def write(directory, offsets, words, hashes, memory):
    """slots.npy, and the first source phrase that stands there before."""
    np.save(directory / "source_offsets.npy", offsets)
    np.save(directory / "source_words.npy", words)
    file = RowFile(directory / "hashes", np.uint64)
    file.append(hashes)
    repeated = write_slots(directory, file, memory)
    file.path.unlink()
    assert not list(directory.glob("slots.*[0-9]"))
    return np.load(directory / "slots.npy"), repeated


@given(PHRASES, st.sampled_from([0, 4 * BYTES_PER_SLOT, 1 << 20]), st.sampled_from([1, 3, 1000]))
@example([(0,), (1,), (0,), (0,), (1,)], 0, 1)
def test_the_same_in_one_part_and_in_many(tmp_path_factory, phrases, memory, at_once):
    distinct, directory = list(dict.fromkeys(phrases)), tmp_path_factory.mktemp("slots")
    hashes = hash_phrases(*arrays(distinct))
    expected = naive.slots(hashes.tolist(), n_slots(len(hashes)))
    assert build_slots(*arrays(distinct)).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_slots, "HASHES_AT_ONCE", at_once)
        slots, repeated = write(directory, *arrays(distinct), hashes, memory)
        assert (slots.tolist(), repeated) == (expected, ABSENT)
        _, repeated = write(directory, *arrays(phrases), hash_phrases(*arrays(phrases)), memory)
    again = (i for i, phrase in enumerate(phrases) if phrase in phrases[:i])
    assert repeated == next(again, ABSENT)


@given(st.lists(st.integers(0, 40) | st.integers(2**64 - 3, 2**64 - 1), max_size=40), st.sampled_from([0, 1 << 20]))
def test_crowded_homes_and_equal_hashes(tmp_path_factory, hashes, memory):
    directory: Path = tmp_path_factory.mktemp("slots")
    offsets, words = arrays([(i,) for i in range(len(hashes))])  # distinct phrases, whatever their hashes
    slots, repeated = write(directory, offsets, words, np.array(hashes, np.uint64), memory)
    assert (slots.tolist(), repeated) == (naive.slots(hashes, n_slots(len(hashes))), ABSENT)


@pytest.mark.needs_jit
def test_memory_is_bounded(tmp_path, monkeypatch):
    hashes = np.random.default_rng(1).integers(2**64, size=100_000, dtype=np.uint64)
    offsets, words = np.arange(hashes.size + 1), np.arange(hashes.size, dtype=np.int32)
    monkeypatch.setattr(source_slots, "HASHES_AT_ONCE", 1 << 12)
    peaks, slots = [], []
    for memory in (1 << 20, 1 << 30):
        tracemalloc.start()
        slots.append(write(tmp_path, offsets, words, hashes, memory)[0])
        peaks.append(tracemalloc.get_traced_memory()[1] - slots[-1].nbytes)  # which the test itself reads
        tracemalloc.stop()
    assert np.array_equal(*slots)
    assert peaks[0] < 1 << 20 < 4 << 20 < peaks[1]
    assert peaks[1] < n_slots(hashes.size) * BYTES_PER_SLOT
