"""Commands look for unused objects less often than Python does by itself, and not at their end."""

import subprocess
import sys

from phrasebeam.process.garbage import AT_START, OBJECTS
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
    assert printed.splitlines()[-1] == f"{AT_START} True"


def test_after_the_first_search_others_look_at_new_objects_alone():
    script = "import gc; from phrasebeam.process.garbage import collect_rarely; collect_rarely(); gc.collect(); "
    script += "print(gc.get_threshold()[0], gc.get_freeze_count() > 1000, len(gc.callbacks))"
    command = [sys.executable, "-c", script]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert printed == f"{OBJECTS} True 0\n"
