"""Seconds that kernels take to be compiled, each without those that it calls."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener


@contextmanager
def compile_seconds() -> Iterator[dict[str, float]]:
    """Processor seconds of each kernel, by module and name, that this process compiles within the context."""
    clock = _Clock()
    with install_listener("numba:compile", clock):
        yield clock.seconds


class _Clock(Listener):
    """Listens to numba, and puts the time that passes to the innermost kernel that is compiled."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self._open: list[str] = []
        self._since = 0.0

    def on_start(self, event: Event) -> None:
        self._count()
        function = event.data["dispatcher"].py_func
        self._open.append(f"{function.__module__}.{function.__qualname__}".removeprefix("phrasebeam."))

    def on_end(self, event: Event) -> None:
        self._count()
        self._open.pop()

    def _count(self) -> None:
        now = time.thread_time()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now
