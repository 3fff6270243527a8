"""Where FastAPI is not installed: everything but the server works, and the server says what is missing."""

import subprocess
import sys

import pytest

from phrasebeam.cli import main

SERVERS_OWN = ("fastapi", "uvicorn", "starlette", "prometheus_client")


@pytest.mark.parametrize("imported", ["phrasebeam", "phrasebeam, phrasebeam.cli; phrasebeam.Decoder, phrasebeam.serve"])
def test_it_is_not_imported(imported):
    script = f"import {imported}; import sys; print([name for name in {SERVERS_OWN} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_command_says_what_to_install(toy, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("phrasebeam.server.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["serve", "--model", str(toy)]) == 2
    error = capsys.readouterr().err
    assert "pip install 'phrasebeam[server]'" in error
    assert error.count("\n") == 1
