"""Scratch arrays that a thread reuses for every sentence, since new memory costs more than filling it."""

from typing import Any

import numpy as np


class ScratchArrays:
    """Scratch arrays by name; an array grows when a larger one is taken."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def take(self, name: str, dtype: Any, *shape: int) -> np.ndarray:
        """An array of `dtype` and `shape` with arbitrary contents, valid until `name` is taken again."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] < shape[0] or array.shape[1:] != shape[1:]:
            array = np.empty((max(2 * shape[0], 1 << 8), *shape[1:]), dtype)
            self._arrays[name] = array
        return array[: shape[0]]
