"""Two processes in one directory: the second is refused, and told which the first is."""

import os
import signal
import subprocess
import sys

import pytest

from phrasebeam.base.files import atomic_directory
from phrasebeam.process import directory_lock
from phrasebeam.process.directory_lock import alone_in_output, locked
from tests import ROOT

HOLDS = """
import sys, time
from pathlib import Path
from phrasebeam.process.directory_lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    monkeypatch.setattr(directory_lock, "SECONDS_TO_WAIT", 0.1)
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        yield process
        process.kill()


def test_a_second_process_is_refused(tmp_path, holder):
    pid = holder.pid if sys.platform == "linux" else r"\d*"
    for attempt in (locked, atomic_directory):
        with pytest.raises(BlockingIOError, match=rf"process {pid} is writing there; wait"), attempt(tmp_path / "out"):
            pytest.fail("it should not begin")
    assert os.listdir(tmp_path) == ["out"]
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked(tmp_path / "out"):
        pass


def test_an_unused_directory_is_removed(tmp_path):
    with pytest.raises(ValueError, match="nothing"), locked(tmp_path / "out"):
        raise ValueError("nothing")
    assert os.listdir(tmp_path) == []
    with locked(tmp_path / "out"):
        (tmp_path / "out" / "file").touch()
    assert os.listdir(tmp_path) == ["out"]


def test_a_function_is_alone_in_its_output(tmp_path, holder):
    @alone_in_output
    def train(model, output, more=1):
        return model, more

    with pytest.raises(BlockingIOError):
        train("model", tmp_path / "out")
    assert train("model", output=tmp_path / "other", more=2) == ("model", 2)
