"""Python's search for unused objects, which takes a fifth of the time of a short command if it is left alone."""

import atexit
import gc
from typing import Any

AT_START = 700_000  # objects made before the first search, which a short command does not reach
OBJECTS = 50_000  # made before the youngest are searched after that; Python's own number is 700 to 2,000


def collect_rarely() -> None:
    """Do not search while modules are imported, nor at the end, when the system takes all memory back."""
    gc.set_threshold(AT_START)
    gc.callbacks.append(_keep_what_is_there)
    atexit.register(gc.freeze)


def _keep_what_is_there(phase: str, info: dict[str, Any]) -> None:
    """After the first search: no other one looks at what it left, which are modules for the most part."""
    if phase == "stop":
        gc.callbacks.remove(_keep_what_is_there)
        gc.freeze()
        gc.set_threshold(OBJECTS)
