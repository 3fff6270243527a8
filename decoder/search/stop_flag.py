"""A flag by which another thread stops a search that is running."""

import numpy as np


class StopFlag:
    """A flag that tells a search to stop; kernels check `array` regularly."""

    def __init__(self) -> None:
        self.array = np.zeros(1, np.int64)

    def set(self) -> None:
        """Stop the searches that have this flag, for good."""
        self.array[0] = 1

    @property
    def is_set(self) -> bool:
        """Whether it was set."""
        return bool(self.array[0])

    def check(self) -> None:
        """Raise InterruptedError if the flag was set."""
        if self.is_set:
            raise InterruptedError("the search was stopped")
