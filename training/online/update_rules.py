"""Rules by which a step changes the weights: perceptron, passive-aggressive, AdaGrad with L1 regularization, Adam.

To add a rule, write a subclass of UpdateRule, and put it into RULES; or write a plugin, see phrasebeam.plugins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import array
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, claim_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.plugins.declarations import extended, plugins
from phrasebeam.training.online.learned_weights import LearnedWeights, SlotColumns
from phrasebeam.training.online.per_feature import FeatureDirection, PerFeature, sum_of
from phrasebeam.training.online.rule_state import NoColumns

MEMORY_OF_MEAN, MEMORY_OF_SQUARES, LEAST_SCALE = 0.9, 0.999, 1e-8  # beta1, beta2, epsilon of Kingma & Ba (2015)


class RuleSettings(NamedTuple):
    """Parameters of rules: the learning rates of a training, and the numbers of its `rule:` section."""

    rates: PerFeature  # learning rates
    strengths: PerFeature  # lambda of L1 regularization; only AdaGrad regularizes
    truncates_all: bool = False  # see AdaGrad


@dataclass(frozen=True)
class UpdateRule:
    """Changes the weights by the directions of the examples of a mini-batch."""

    columns: ClassVar[type] = NoColumns  # state of the rule for each weight, see RuleState; stored in LearnedWeights
    normalizes: ClassVar[bool] = False  # whether steps are about as long as the rate for any number of examples
    settings: RuleSettings

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Make a step by `directions`, from a mini-batch of `batch` examples; some examples may have no direction."""
        raise NotImplementedError

    def settle(self, learned: LearnedWeights) -> None:
        """Make all postponed changes; a rule may postpone changes of weights that have no gradient in a step."""


class Perceptron(UpdateRule):
    """Adds the mean of a mini-batch's directions times the learning rates (Zhao & Huang 2013)."""

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Add one direction after the other, so that the sum depends only on their order."""
        for direction in directions:
            rates = self.settings.rates.groups[direction.groups] / batch
            moved = rates > 0
            amounts = (rates * direction.values)[moved]
            dense = self.settings.rates.dense / batch * direction.dense
            learned.add(dense, direction.keys[moved], amounts, direction.groups[moved])


class PassiveAggressive(Perceptron):
    """PA-I (Crammer et al. 2006, section 3): steps are no longer than necessary to make an example's loss 0.

    With x the direction of an example, its step is min(C, loss / ||x||^2) * x, where C is the learning rate. With rates
    that differ by feature, distances between weights are measured by (change ** 2 / rate), so that the step becomes
    min(1, loss / sum(rate * x ** 2)) * rate * x: the step of the perceptron, or a part of it. As in the perceptron, the
    steps of a mini-batch are averaged. If the loss is not one hinge but a sum of losses, x is minus its gradient, and
    the step ends where the tangent of the loss is 0.
    """

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Shorten each direction, and make the step of the perceptron."""
        super().step(learned, [self._shortened(one) for one in directions], batch)

    def _shortened(self, direction: FeatureDirection) -> FeatureDirection:
        rates = self.settings.rates
        norm = rates.dense @ direction.dense**2 + rates.groups[direction.groups] @ direction.values**2
        share = direction.loss / norm if direction.loss < norm else 1.0
        return direction._replace(dense=share * direction.dense, values=share * direction.values)


class AdamColumns(NamedTuple):
    """The state of Adam."""

    mean: Annotated[np.ndarray, array(np.float64, "N")]  # moving average of gradients
    squares: Annotated[np.ndarray, array(np.float64, "N")]  # moving average of squared gradients
    n_steps: Annotated[np.ndarray, array(np.int64, "N")]  # number of steps in which the weight had a gradient


class Adam(UpdateRule):
    """Lazy Adam (Kingma & Ba 2015, algorithm 1): a step changes only the weights that have a gradient in it.

    With g the sum of a mini-batch's directions, a step does for each weight whose g is not 0

        t += 1,   m = 0.9 m + 0.1 g,   s = 0.999 s + 0.001 g ** 2,
        v += rate * m / (1 - 0.9 ** t) / (sqrt(s / (1 - 0.999 ** t)) + 1e-8).

    In the paper the moments of all weights decay at every step, and t is the same for all. Here, as in LazyAdam of
    TensorFlow and SparseAdam of PyTorch, moments and weights of a feature that did not fire do not change. Unlike
    there, t counts only the steps that changed the weight, since only these are in the moments of a rare feature.
    """

    columns: ClassVar[type] = AdamColumns
    normalizes: ClassVar[bool] = True

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Make a step by the sum of the directions."""
        if not directions:
            return
        total, rates = sum_of(directions), self.settings.rates
        moved = rates.groups[total.groups] > 0
        keys, groups = total.keys[moved], total.groups[moved]
        slots = learned.slots_of(keys)  # before columns_of, since the table may grow
        of_dense, of_slots = learned.columns_of(AdamColumns)
        amounts = _adam(of_slots, slots, total.values[moved], rates.groups[groups])
        at, dense = np.flatnonzero(total.dense), np.zeros(total.dense.size)
        dense[at] = _adam(of_dense, at, total.dense[at], rates.dense[at])
        learned.add(dense, keys, amounts, groups)


def _adam(columns: AdamColumns, at: np.ndarray, gradient: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Update the columns in the rows `at` (int64[K]), and return the changes of their weights (float64[K])."""
    columns.n_steps[at] += 1
    columns.mean[at] += (1 - MEMORY_OF_MEAN) * (gradient - columns.mean[at])
    columns.squares[at] += (1 - MEMORY_OF_SQUARES) * (gradient**2 - columns.squares[at])
    mean = columns.mean[at] / (1 - MEMORY_OF_MEAN ** columns.n_steps[at])
    squares = columns.squares[at] / (1 - MEMORY_OF_SQUARES ** columns.n_steps[at])
    return rates * mean / (np.sqrt(squares) + LEAST_SCALE)


class AdaGradColumns(NamedTuple):
    """The state of AdaGrad."""

    squares: Annotated[np.ndarray, array(np.float64, "N")]  # G, sum of squared gradients
    n_steps: Annotated[np.ndarray, array(np.int64, "N")]  # number of steps for which a sparse weight was truncated


class AdaGrad(UpdateRule):
    """AdaGrad, and FOBOS for the L1 norm (Green et al. 2013, equations 3 to 7; Duchi & Singer 2009).

    With g the sum of a mini-batch's directions, a step does for each weight

        G += g ** 2,   v += rate / sqrt(G) * g,   v = sign(v) * max(0, |v| - rate * strength / sqrt(G)).

    In the equations the last part, truncation, concerns all weights at every step. With `truncates_all` this is done;
    for weights whose gradient is 0 it is postponed until they are needed (`settle`), with the same results to the bit.
    Without it, weights are truncated only in steps in which they have a gradient, so that rare features keep their
    weights. Phrasal, the authors' program, has both: its example configuration truncates all weights, another updater
    only those with a gradient. Weights that never had a gradient are never truncated, since their G is 0.
    """

    columns: ClassVar[type] = AdaGradColumns
    normalizes: ClassVar[bool] = True

    def step(self, learned: LearnedWeights, directions: Sequence[FeatureDirection], batch: int) -> None:
        """Make a step by the sum of the directions; without directions, only regularize."""
        dense = np.zeros(learned.dense.size)
        if directions:
            total = sum_of(directions)
            moved = self.settings.rates.groups[total.groups] > 0
            keys = total.keys[moved]
            learned.make_room(keys.size)
            sparse = total._replace(keys=keys, values=total.values[moved], groups=total.groups[moved])
            adapt(*_table(learned), sparse, self.settings, *_counts(learned))
            dense = total.dense
        self._step_dense(learned, dense)
        learned.state.n_steps += 1

    def _step_dense(self, learned: LearnedWeights, gradient: np.ndarray) -> None:
        squares = learned.columns_of(AdaGradColumns)[0].squares
        squares += gradient**2
        rates, strengths, truncates_all = self.settings
        concerned = squares > 0 if truncates_all else gradient != 0
        steps = np.zeros(gradient.size)
        np.divide(rates.dense, np.sqrt(squares), out=steps, where=concerned)
        moved = learned.dense + steps * gradient
        truncated = np.sign(moved) * np.maximum(np.abs(moved) - steps * strengths.dense, 0.0)
        learned.add_dense(truncated - learned.dense)

    def settle(self, learned: LearnedWeights) -> None:
        """Truncate all weights for all steps so far."""
        if self.settings.truncates_all:
            truncate_all(*_table(learned), self.settings, *_counts(learned))


def _table(learned: LearnedWeights) -> tuple[SparseWeights, SlotColumns, AdaGradColumns]:
    return learned.sparse, learned.columns, learned.columns_of(AdaGradColumns)[1]


def _counts(learned: LearnedWeights) -> tuple[np.int64, float]:
    """Number of steps and number of additions to the average so far, with the types that kernels need."""
    return np.int64(learned.state.n_steps), float(learned.n_averaged)


RULES: dict[str, type[UpdateRule]] = extended(
    {"perceptron": Perceptron, "pa": PassiveAggressive, "adagrad": AdaGrad, "adam": Adam},
    {name: type(rule.__name__, (rule, UpdateRule), {}) for name, rule in plugins().update_rules.items()},
)
if TYPE_CHECKING:
    RuleName = str
else:
    RuleName = Literal[tuple(RULES)]


def new_rule(
    name: RuleName, rates: PerFeature, strengths: PerFeature | None = None, truncates_all: bool = False
) -> UpdateRule:
    """Make the rule `name`; without `strengths` it does not regularize."""
    zero = PerFeature(np.zeros(rates.dense.size), np.zeros(rates.groups.size))
    return RULES[name](RuleSettings(rates, zero if strengths is None else strengths, truncates_all))


@inlined_kernel
def shrunk(value, threshold):
    """The weight `value` (float64) moved towards 0 by `threshold` (float64), not beyond it (equation 7)."""
    if value > threshold:
        return value - threshold
    return value + threshold if value < -threshold else 0.0


@inlined_kernel
def truncate(
    weights: SparseWeights, columns: SlotColumns, state: AdaGradColumns, slot, how: RuleSettings, n_steps, n_before
):
    """Truncate the weight in `slot` (int64) once for each step up to `n_steps` (int64) for which that was postponed.

    `n_before` (float64): see add_step.
    """
    value, group = weights.values[slot], columns.group[slot]
    if value != 0.0 and state.squares[slot] > 0.0:
        threshold = how.rates.groups[group] / np.sqrt(state.squares[slot]) * how.strengths.groups[group]
        last = state.n_steps[slot]
        while threshold > 0.0 and last < n_steps and value != 0.0:  # not by a product, which would round otherwise
            value = shrunk(value, threshold)
            last += 1
        change_to(weights, columns, slot, value, n_before)
    state.n_steps[slot] = n_steps


@inlined_kernel
def change_to(weights: SparseWeights, columns: SlotColumns, slot, value, n_before):
    """Set the weight in `slot` (int64) to `value` (float64); `n_before` (float64): see add_step."""
    columns.weighted_sum[slot] += n_before * (value - weights.values[slot])
    weights.values[slot] = value


@kernel
def adapt(
    weights: SparseWeights,
    columns: SlotColumns,
    state: AdaGradColumns,
    direction: FeatureDirection,
    how: RuleSettings,
    n_steps,
    n_before,
):
    """Make the step of AdaGrad for the sparse features of a direction; the table must have room for them.

    `n_steps` (int64): number of steps before; `n_before` (float64): see add_step.
    """
    for i in range(direction.keys.size):
        slot, group, gradient = claim_slot(weights, direction.keys[i]), direction.groups[i], direction.values[i]
        columns.group[slot] = group
        if how.truncates_all:
            truncate(weights, columns, state, slot, how, n_steps, n_before)
        state.squares[slot] += gradient * gradient
        rate = how.rates.groups[group] / np.sqrt(state.squares[slot])
        value = shrunk(weights.values[slot] + rate * gradient, rate * how.strengths.groups[group])
        change_to(weights, columns, slot, value, n_before)
        state.n_steps[slot] = n_steps + 1


@kernel
def truncate_all(
    weights: SparseWeights, columns: SlotColumns, state: AdaGradColumns, how: RuleSettings, n_steps, n_before
):
    """Truncate all weights up to step `n_steps` (int64); `n_before` (float64): see add_step."""
    for slot in range(weights.values.size):
        if weights.values[slot] != 0.0:
            truncate(weights, columns, state, slot, how, n_steps, n_before)
