"""Commands look for unused objects less often than Python does by itself, and not at their end."""

import subprocess
import sys

from phrasebeam.process.garbage import OBJECTS
from tests import ROOT

SCRIPT = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 1000))  # runs last
from phrasebeam.cli import main
sys.argv = ["phrasebeam", "config"]
sys.exit(main())
"""


def test_commands_search_rarely_and_not_at_their_end():
    command = [sys.executable, "-c", SCRIPT]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert printed.splitlines()[-1] == f"{OBJECTS} True"
