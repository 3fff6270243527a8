"""Where sil-machine is not installed: all else works, and the integration says what is missing."""

import subprocess
import sys

import pytest


def test_it_is_not_imported():
    script = "import phrasebeam, phrasebeam.integrations, phrasebeam.cli, sys; print('machine' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("phrasebeam.integrations.", "machine."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "machine", None)
    with pytest.raises(ImportError, match=r"pip install 'phrasebeam\[machine\]'"):
        import phrasebeam.integrations.machine  # noqa: F401
