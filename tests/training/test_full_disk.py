"""Errors of a full disk name the file, wherever data is appended to one."""

import resource

import numpy as np
import pytest

from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.training.maxforce.lattice_store import ARRAYS, LatticeWriter
from phrasebeam.training.nbest.growing_array import GrowingArray
from phrasebeam.training.online.update_log import Record, UpdateLog

BYTES = 1 << 16  # that files may have
ROWS = np.zeros(1 << 10, np.int64)


@pytest.fixture(autouse=True)
def small_disk():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def fill_growing_array(path):
    array = GrowingArray(path, np.int64)
    for _ in range(BYTES):
        array.append(ROWS)


def fill_update_log(path):
    derivation = Derivation(ROWS, ROWS.astype(np.int32), ROWS.astype(np.int32))
    log = UpdateLog(path, 0)
    for _ in range(BYTES):
        log.add(Record(0, derivation, derivation))


def flush_update_log(path):
    derivation = Derivation(*(np.zeros(1, dtype) for dtype in (np.int64, np.int32, np.int32)))
    log = UpdateLog(path, 0)
    for _ in range(BYTES):
        log.add(Record(0, derivation, derivation))
        log.flush()


def fill_lattices(path):
    arrays = {name: np.zeros(BYTES, field.dtype) for name, field in ARRAYS.items()}
    with LatticeWriter(path.parent) as writer:
        writer.add(0, GoldLattice(**arrays, merges_ends=False))


@pytest.mark.parametrize("fill", [fill_growing_array, fill_update_log, flush_update_log, fill_lattices])
def test_a_full_disk_names_the_file(tmp_path, fill):
    with pytest.raises(OSError, match="File too large") as caught:
        fill(tmp_path / "data")
    assert caught.value.filename == str(tmp_path / "data")
