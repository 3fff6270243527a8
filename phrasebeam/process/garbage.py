"""Python's garbage collector: with its default settings it takes a fifth of the time of a short command."""

import atexit
import gc
from typing import Any

AT_START = 700_000  # objects made before the first collection; a short command does not reach it
OBJECTS = 50_000  # new objects before the youngest generation is collected after that; Python's default is 700 to 2,000


def collect_rarely() -> None:
    """Collect nothing while modules are imported, nor at the end, when the system takes all memory back."""
    gc.set_threshold(AT_START)
    gc.callbacks.append(_keep_what_is_there)
    atexit.register(gc.freeze)


def _keep_what_is_there(phase: str, info: dict[str, Any]) -> None:
    """After the first collection, exclude what is left, mostly modules, from all later ones."""
    if phase == "stop":
        gc.callbacks.remove(_keep_what_is_there)
        gc.freeze()
        gc.set_threshold(OBJECTS)
