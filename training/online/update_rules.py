"""How a step moves the weights: the perceptron's, and AdaGrad (Duchi et al. 2011) with L1 regularization by FOBOS.

To add a rule, write a class with `step` and `settle`, and put its name into RuleName and RULES.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, claim_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.training.online.direction import FeatureDirection, sum_of
from phrasebeam.training.online.learned_weights import LearnedWeights, SlotColumns
from phrasebeam.training.online.per_feature import PerFeature


class RuleSettings(NamedTuple):
    """What rules may be told."""

    rates: PerFeature  # learning rates
    strengths: PerFeature  # of L1 regularization, lambda; the perceptron has none
    truncates_all: bool = False  # see AdaGrad


class UpdateRule(Protocol):
    """Moves weights in the directions that the examples of a mini-batch give."""

    is_adaptive: ClassVar[bool]  # whether it keeps a state for each weight

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Go a step in `directions`, those of a mini-batch of `batch` examples, some of which may have none."""

    def settle(self, learned: LearnedWeights) -> None:
        """Bring all weights to the last step, where the rule changes weights that no example touches."""


@dataclass(frozen=True)
class Perceptron:
    """Adds the mean of a mini-batch's directions times the learning rates (Zhao & Huang 2013)."""

    is_adaptive: ClassVar[bool] = False
    rates: PerFeature

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Add them one after the other, so that the sum depends on their order alone."""
        for direction in directions:
            rates = self.rates.groups[direction.groups] / batch
            moved = rates > 0
            amounts = (rates * direction.values)[moved]
            dense = self.rates.dense / batch * direction.dense
            learned.add(dense, direction.keys[moved], amounts, direction.groups[moved])

    def settle(self, learned: LearnedWeights) -> None:
        """No weight changes that no example touches."""


@dataclass(frozen=True)
class AdaGrad:
    """AdaGrad, and FOBOS for the L1 norm (Green et al. 2013, equations 3 to 7; Duchi & Singer 2009).

    With g the sum of a mini-batch's directions, a step does for each weight

        G += g ** 2,   v += rate / sqrt(G) * g,   v = sign(v) * max(0, |v| - rate * strength / sqrt(G)).

    By the equations the last part concerns all weights at every step. With `truncates_all` that is done, for weights
    whose gradient is 0 only when they are needed (`settle`), to the same bits. Without it, weights are truncated only
    in steps in which they have a gradient, so that rare features keep what they learned. Phrasal, the authors' program,
    has both: its example configuration truncates all weights, another updater only those with a gradient. Weights that
    never had a gradient are never truncated, since their G is 0.
    """

    is_adaptive: ClassVar[bool] = True
    settings: RuleSettings

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Go a step in the sum of the directions; without any, only regularize."""
        dense = np.zeros(learned.dense.size)
        if directions:
            total = sum_of(directions)
            moved = self.settings.rates.groups[total.groups] > 0
            keys = total.keys[moved]
            learned.make_room(keys.size)
            sparse = total._replace(keys=keys, values=total.values[moved], groups=total.groups[moved])
            n_steps, n_before = np.int64(learned.n_steps), float(learned.n_averaged)
            adapt(learned.sparse, learned.columns, sparse, self.settings, n_steps, n_before)
            dense = total.dense
        self._step_dense(learned, dense)
        learned.n_steps += 1

    def _step_dense(self, learned: LearnedWeights, gradient: np.ndarray) -> None:
        learned.dense_squares += gradient**2
        rates, strengths, truncates_all = self.settings
        concerned = learned.dense_squares > 0 if truncates_all else gradient != 0
        steps = np.zeros(gradient.size)
        np.divide(rates.dense, np.sqrt(learned.dense_squares), out=steps, where=concerned)
        moved = learned.dense + steps * gradient
        truncated = np.sign(moved) * np.maximum(np.abs(moved) - steps * strengths.dense, 0.0)
        learned.add_dense(truncated - learned.dense)

    def settle(self, learned: LearnedWeights) -> None:
        """Truncate all weights as often as there were steps."""
        if self.settings.truncates_all:
            n_steps, n_before = np.int64(learned.n_steps), float(learned.n_averaged)
            truncate_all(learned.sparse, learned.columns, self.settings, n_steps, n_before)


RuleName = Literal["perceptron", "adagrad"]
RULES: dict[RuleName, Callable[[RuleSettings], UpdateRule]] = {
    "perceptron": lambda settings: Perceptron(settings.rates),
    "adagrad": AdaGrad,
}


@inlined_kernel
def shrunk(value, threshold):
    """The weight `value` (float64) moved towards 0 by `threshold` (float64), not beyond it (equation 7)."""
    if value > threshold:
        return value - threshold
    return value + threshold if value < -threshold else 0.0


@inlined_kernel
def truncate(weights: SparseWeights, columns: SlotColumns, slot, how: RuleSettings, n_steps, n_before):
    """Truncate the weight in `slot` (int64) once for each step up to `n_steps` (int64) that it has not been through.

    `n_before` (float64): see add_step.
    """
    value, group = weights.values[slot], columns.group[slot]
    if value != 0.0 and columns.squares[slot] > 0.0:
        threshold = how.rates.groups[group] / np.sqrt(columns.squares[slot]) * how.strengths.groups[group]
        last = columns.n_steps[slot]
        while threshold > 0.0 and last < n_steps and value != 0.0:  # not at once: the same bits as step by step
            value = shrunk(value, threshold)
            last += 1
        change_to(weights, columns, slot, value, n_before)
    columns.n_steps[slot] = n_steps


@inlined_kernel
def change_to(weights: SparseWeights, columns: SlotColumns, slot, value, n_before):
    """Set the weight in `slot` (int64) to `value` (float64); `n_before` (float64): see add_step."""
    columns.weighted_sum[slot] += n_before * (value - weights.values[slot])
    weights.values[slot] = value


@kernel
def adapt(
    weights: SparseWeights,
    columns: SlotColumns,
    direction: FeatureDirection,
    how: RuleSettings,
    n_steps,
    n_before,
):
    """The step of AdaGrad for the sparse features of a direction, for which there must be room.

    `n_steps` (int64): those before this one; `n_before` (float64): see add_step.
    """
    for i in range(direction.keys.size):
        slot, group, gradient = claim_slot(weights, direction.keys[i]), direction.groups[i], direction.values[i]
        columns.group[slot] = group
        if how.truncates_all:
            truncate(weights, columns, slot, how, n_steps, n_before)
        columns.squares[slot] += gradient * gradient
        rate = how.rates.groups[group] / np.sqrt(columns.squares[slot])
        value = shrunk(weights.values[slot] + rate * gradient, rate * how.strengths.groups[group])
        change_to(weights, columns, slot, value, n_before)
        columns.n_steps[slot] = n_steps + 1


@kernel
def truncate_all(weights: SparseWeights, columns: SlotColumns, how: RuleSettings, n_steps, n_before):
    """Truncate all weights up to step `n_steps` (int64); `n_before` (float64): see add_step."""
    for slot in range(weights.values.size):
        if weights.values[slot] != 0.0:
            truncate(weights, columns, slot, how, n_steps, n_before)
