"""Prefetch hints to the processor, so that several rows of large tables are read from memory at the same time."""

from typing import Any

from phrasebeam.kernels.jit import IS_COMPILED, Intrinsic

if IS_COMPILED:
    prefetch: Any = Intrinsic("prefetch")
else:

    def prefetch(array: Any, row: Any) -> None:
        """Do nothing: the hint has no effect on results."""
