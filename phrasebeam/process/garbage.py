"""Python's search for unused objects, which takes a fifth of the time of a short command if it is left alone."""

import atexit
import gc

OBJECTS = 50_000  # made before the youngest are searched; Python's own number is 700 to 2,000


def collect_rarely() -> None:
    """Search less often while modules are imported, and not at the end, when the system takes all memory back."""
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)
