"""Nothing gets through: damaged files of every kind, and nasty lines of text, are refused in one line or do no harm."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.needs_jit
def test_damaged_files_do_no_harm():
    command = [sys.executable, "-m", "tests.robustness", "--seed", "25", "--cases", "60"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
