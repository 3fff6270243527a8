"""Running modules of phrasebeam as separate processes, with the same Python and the same installation."""

import os
import sys
from pathlib import Path

CHILD = "phrasebeam.process.child"
ROOT = Path(__file__).resolve().parents[2]  # directory of the package: a checkout, or site-packages


def module_command(module: str, **variables: str) -> tuple[list[str], dict[str, str]]:
    """The command line that runs `module`, for children.start, and its environment: ours with `variables` added.

    -P and PYTHONPATH make Python find this installation first, not modules of the same name in the working directory.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-P", "-m", CHILD, module], {**os.environ, "PYTHONPATH": path, **variables}
