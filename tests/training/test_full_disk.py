"""Errors of a full disk name the file, wherever data is appended to one."""

import gzip
import resource
from pathlib import Path

import numpy as np
import pytest

from phrasebeam.base.array_file import new_array_file
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.training.maxforce.lattice_store import ARRAYS, LatticeWriter
from phrasebeam.training.model_building.preprocessing import preprocessed
from phrasebeam.training.model_building.scoring import TypeFile
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


def new_large_array(path):
    new_array_file(path, np.dtype(np.int64), (BYTES,))


@pytest.mark.parametrize(
    "fill", [new_large_array, fill_growing_array, fill_update_log, flush_update_log, fill_lattices]
)
def test_a_full_disk_names_the_file(tmp_path, fill):
    with pytest.raises(OSError, match="File too large") as caught:
        fill(tmp_path / "data")
    assert caught.value.filename == str(tmp_path / "data")


def test_a_full_disk_has_no_room_for_types(tmp_path):
    with pytest.raises(OSError, match="File too large") as caught:
        TypeFile(tmp_path, BYTES)
    assert caught.value.filename == str(tmp_path / "smoothing" / "target_types.npy")


def test_a_full_disk_names_the_file_of_tokens(tmp_path):
    raw = tmp_path / "raw.gz"
    raw.write_bytes(gzip.compress(b"one dog sleeps .\n" * (BYTES // 16)))
    settings = RawTextSettings(source_language="en", target_language="en", casing="lowercase")
    with (
        pytest.raises(OSError, match="File too large") as caught,
        preprocessed([raw, raw], settings, tmp_path, 1),
    ):
        pytest.fail("more was written than there is room for")
    assert Path(caught.value.filename).is_relative_to(tmp_path / "preprocessed")
