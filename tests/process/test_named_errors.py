"""Errors of a full disk name what was to be written; a limit on the size of files has the same effect."""

import resource
import signal

import numpy as np
import pytest

from phrasebeam.base.files import atomic_directory, atomic_file, scratch_directory
from phrasebeam.base.spill import RowFile
from phrasebeam.process.directory_lock import locked

LIMIT = 10_000  # bytes


@pytest.fixture
def full():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def write_file(path):
    with atomic_file(path) as file:
        file.write(bytes(2 * LIMIT))


def write_array(path):
    with atomic_directory(path) as directory:
        np.save(directory / "array.npy", np.zeros(LIMIT))


def write_directory(path):
    with atomic_directory(path) as directory, open(directory / "file", "wb") as file:
        file.write(bytes(2 * LIMIT))


def write_rows(path):
    with scratch_directory(path.parent):
        RowFile(path, np.int32).append(np.zeros(LIMIT))


def train(path):
    with locked(path), open(path / "file", "wb") as file:
        file.write(bytes(2 * LIMIT))


@pytest.mark.parametrize("write", [write_file, write_array, write_directory, write_rows, train])
def test_the_error_names_it(tmp_path, full, write):
    with pytest.raises(OSError, match=r"File too large|could not be written .*is the disk full") as caught:
        write(tmp_path / "result")
    assert caught.value.filename == str(tmp_path / "result")
    assert not list(tmp_path.glob(".*"))
