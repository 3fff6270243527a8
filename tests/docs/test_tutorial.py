"""The tutorial does what it says: its commands, run in their order as they are written, print what it shows."""

import socket
import subprocess

import pytest

from tests import ROOT
from tests.documents import environment, run, run_python, steps, without_numbers
from tests.server.running import SECONDS_TO_END

__all__ = ["environment"]  # a fixture
TUTORIAL = ROOT / "docs" / "tutorial.md"
PORT = "8000"  # of the tutorial; the test takes one that is free


@pytest.fixture
def port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


@pytest.fixture
def start(environment, tmp_path):
    """A function that starts a server, and returns the line that says where it listens; it is ended with the test."""
    servers = []

    def started(command):
        words, errors = ["bash", "-c", f"exec {command}"], subprocess.PIPE
        server = subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=errors, text=True)
        servers.append(server)
        return next(line for line in server.stderr if "listening" in line)

    yield started
    for server in servers:
        server.terminate()
        server.communicate(timeout=SECONDS_TO_END)
        assert server.returncode == 0


def test_commands_and_python_work_as_written(environment, tmp_path, port, start):
    printed = {}
    for written, shown in steps(TUTORIAL):
        command = written.replace(PORT, port)
        is_server = command.endswith("&")
        output = start(command[:-1]) if is_server else run(["bash", "-c", command], environment, tmp_path)
        printed[written] = output
        for line in shown:
            assert without_numbers(line) in without_numbers(output), (written, line, output)
    static, learned = (text for command, text in printed.items() if "/v1/translate" in command)
    assert "badger" in learned
    assert "badger" not in static
    assert (tmp_path / "adapted.out").read_text("utf-8").count("\n") == 100
    run_python(TUTORIAL, environment, tmp_path)
