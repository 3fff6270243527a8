"""Modules of phrasebeam run as processes of their own, by the same Python and from the same installation."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # where the package is: a checkout, or site-packages


def module_command(module: str, **variables: str) -> tuple[list[str], dict[str, str]]:
    """The command that runs `module`, and its environment: that of this process with `variables` added.

    -P and the path make it the module of this program, whatever lies in the directory where it was started.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-P", "-m", module], {**os.environ, "PYTHONPATH": path, **variables}
