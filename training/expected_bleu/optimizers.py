"""Steps towards a larger objective, each a function of weights, gradient and state (Wuebker et al. 2015, section 4).

Signs are the same in all of training/expected_bleu: the objective is maximized, and `gradient` is its gradient. A
weight is added to the model score each time that its feature fires, and higher scores are better. The paper's scores
are costs, so that its Equations 8 and 11 to 13 have the opposite sign.

weights, gradient: float64[F]. `state` is empty before the first step and holds float64[F] arrays by name; weights and
state change in place.
"""

from collections.abc import Callable

import numpy as np

from phrasebeam.plugins.declarations import extended, plugins
from phrasebeam.training.expected_bleu.config import Steps

State = dict[str, np.ndarray]
Step = Callable[[np.ndarray, np.ndarray, State, Steps], None]


def sgd(weights: np.ndarray, gradient: np.ndarray, state: State, steps: Steps) -> None:
    """A step along the gradient (Equation 3)."""
    weights += steps.sgd.rate * gradient


def adagrad(weights: np.ndarray, gradient: np.ndarray, state: State, steps: Steps) -> None:
    """A step of AdaGrad (Equations 4 and 5); weights whose gradient was always 0 do not change."""
    squares = state.setdefault("squares", np.zeros(weights.size))
    squares += gradient**2
    roots = np.sqrt(squares)
    weights += np.divide(steps.adagrad.rate * gradient, roots, out=np.zeros(weights.size), where=roots > 0)


def rprop(weights: np.ndarray, gradient: np.ndarray, state: State, steps: Steps) -> None:
    """A step of RPROP (tables of section 4.2): if the gradient of a weight changes its sign, its last step is undone.

    So a weight on which no other depends ends up alternating between two values. Riedmiller & Braun (1993) set the
    gradient to 0 after a step was undone; the tables do not.
    """
    settings = steps.rprop
    last_gradient = state.setdefault("gradient", np.zeros(weights.size))
    last_weights = state.setdefault("weights", weights.copy())
    step = state.setdefault("step", np.full(weights.size, settings.initial_step))
    direction = np.sign(gradient)
    agreement = np.sign(last_gradient) * direction
    step[agreement > 0] *= settings.increase
    step[agreement < 0] *= settings.decrease
    next_weights = np.where(agreement < 0, last_weights, weights + direction * step)
    last_weights[:] = weights
    weights[:] = next_weights
    last_gradient[:] = gradient


OPTIMIZERS: dict[str, Step] = extended({"rprop": rprop, "adagrad": adagrad, "sgd": sgd}, plugins().optimizers)


def state_names(optimizer: str, steps: Steps) -> list[str]:
    """The names of the arrays that an optimizer's state has after a step."""
    state: State = {}
    OPTIMIZERS[optimizer](np.zeros(1), np.zeros(1), state, steps)
    return list(state)
