"""Tells whoever waits for the first run of a command that kernels are being compiled, and how many were."""

import time
from contextlib import ExitStack

from numba.core.event import Event, Listener

from phrasebeam.base.progress import compilation_bar
from phrasebeam.process.starting_line import COMPILING


class CompilationProgress(Listener):
    """Listens to numba's compilations of dispatchers of one class; numba's lock admits one at a time.

    On the terminal of a command: a bar while kernels are compiled; elsewhere the first is logged.
    """

    def __init__(self, dispatcher_class: type):
        self.dispatcher_class = dispatcher_class
        self.n_open, self.n_compiled, self.seconds, self.start = 0, 0, 0.0, 0.0
        self.bar = ExitStack()

    def on_start(self, event: Event) -> None:
        """Show the bar when a kernel that no other called begins to be compiled."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        if self.n_open == 0:
            self.start = time.perf_counter()
            self.advance = self.bar.enter_context(compilation_bar(COMPILING, self.n_compiled, self.seconds))
        self.n_open += 1

    def on_end(self, event: Event) -> None:
        """Count a kernel, and remove the bar if no other waits for it."""
        if not isinstance(event.data["dispatcher"], self.dispatcher_class):
            return
        self.n_open, self.n_compiled = self.n_open - 1, self.n_compiled + 1
        self.advance(1)
        if self.n_open == 0:
            self.seconds += time.perf_counter() - self.start
            self.bar.close()
