"""Commands whose standard streams are closed, or cannot be written to: a line where there is a stream, and status 2."""

import os
import subprocess
import sys

import pytest

from tests import ROOT

COMMAND = f"cd {ROOT} && {sys.executable} -m phrasebeam demo-corpus --sentences 3 --output "


def run(path, redirection):
    command = ["sh", "-c", f"{COMMAND}{path / 'corpus'} {redirection}"]
    result = subprocess.run(command, capture_output=True, text=True, input="", env=os.environ, check=False)
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("redirection", "names"),
    [
        ("<&-", "standard input"),
        (">&-", "standard output"),
        ("2>&-", ""),
        ("<&- >&-", "standard input and standard output"),
        ("<&- >&- 2>&-", ""),
    ],
)
def test_closed_streams(tmp_path, redirection, names):
    line = f"phrasebeam: {names}: closed; open it, to /dev/null if it is not needed\n" if names else ""
    assert run(tmp_path, redirection) == (2, "", line)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_standard_output(tmp_path):
    assert run(tmp_path, ">/dev/full") == (2, "", "phrasebeam: standard output: No space left on device\n")


def test_a_reader_that_goes(tmp_path):
    status, _, errors = run(tmp_path, "| true; :")
    assert (status, errors) == (0, "")
