"""Minimization of a smooth convex function by limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.5)."""

from collections import deque
from collections.abc import Callable

import numpy as np

MEMORY = 10  # number of steps that are remembered, with the changes of the gradient
DECREASE, SHRINKING, MOST_HALVINGS = 1e-4, 0.5, 40  # Armijo's condition, by backtracking

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]


def minimize(function: Function, start: np.ndarray, steps: int, tolerance: float = 1e-6) -> tuple[np.ndarray, int]:
    """Find the minimum of `function`, which returns value and gradient; at most `steps` steps.

    Returns the minimum and the number of steps. Stops if the norm of the gradient is at most `tolerance` times that at
    the start.
    """
    point = start
    value, gradient = function(point)
    enough = tolerance * np.linalg.norm(gradient)
    pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=MEMORY)
    for step in range(steps):
        if np.linalg.norm(gradient) <= enough:
            return point, step
        direction = -_times_inverse_hessian(gradient, pairs)
        rate = 1.0 if pairs else 1.0 / float(np.linalg.norm(gradient))
        for _ in range(MOST_HALVINGS):
            new_point = point + rate * direction
            new_value, new_gradient = function(new_point)
            if new_value <= value + DECREASE * rate * float(direction @ gradient):
                break
            rate *= SHRINKING
        else:
            return point, step
        moved, changed = new_point - point, new_gradient - gradient
        if float(moved @ changed) > 0:
            pairs.append((moved, changed))
        point, value, gradient = new_point, new_value, new_gradient
    return point, steps


def _times_inverse_hessian(gradient: np.ndarray, pairs: deque[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The gradient times the approximate inverse Hessian (float64[F]; two-loop recursion, algorithm 7.4)."""
    direction, shares = gradient.copy(), []
    for moved, changed in reversed(pairs):
        share = float(moved @ direction) / float(moved @ changed)
        direction -= share * changed
        shares.append(share)
    if pairs:
        moved, changed = pairs[-1]
        direction *= float(moved @ changed) / float(changed @ changed)
    for (moved, changed), share in zip(pairs, reversed(shares)):
        direction += moved * (share - float(changed @ direction) / float(moved @ changed))
    return direction
