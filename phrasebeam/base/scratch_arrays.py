"""Arrays of one thread that every sentence uses again: memory fresh from the system costs more than filling it."""

from typing import Any

import numpy as np


class ScratchArrays:
    """Arrays by name, which grow where a sentence needs more."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def take(self, name: str, dtype: Any, *shape: int) -> np.ndarray:
        """An array of that shape, with whatever it held before; it is overwritten when `name` is taken again."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] < shape[0] or array.shape[1:] != shape[1:]:
            array = np.empty((max(2 * shape[0], 1 << 8), *shape[1:]), dtype)
            self._arrays[name] = array
        return array[: shape[0]]
