"""Learns weights of the second choice, of sparse features: AdaGrad (Duchi et al. 2011) on likelihood of right forms."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.sparse_choice import FEATURES, Choices, Tokens, fire_neighbours
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.normalization.normalizer_settings import SparseSettings

LEAST_GRADIENT = 1e-3  # candidates with a smaller gradient of their score change no weights
FIRST_SQUARE = 1e-2  # initial sum of squared gradients


class LearningState(NamedTuple):
    """The weights, and the state of AdaGrad for each."""

    weights: np.ndarray  # float32[S]
    squares: np.ndarray  # float32[S], sums of squared gradients


class LearningSpace(NamedTuple):
    """Work space for the candidates of one token."""

    slots: np.ndarray  # int32[...], the features of all candidates
    first: np.ndarray  # int64[...], features of candidate k are slots[first[k]:first[k + 1]]
    prob: np.ndarray  # float64[...]


@kernel
def learn_pass(choices: Choices, tokens: Tokens, right, order, steps, state: LearningState, space: LearningSpace):
    """Make a step for each token in `order` (int64).

    `right`: int64[T], index of each token's right form among the candidates of its word; `steps`: float64[2], rate and
    penalty.
    """
    rate, penalty, size = steps[0], steps[1], np.int64(state.weights.size)
    for place in range(order.size):
        t = order[place]
        begin = choices.first[tokens.word[t]]
        n = choices.first[tokens.word[t] + 1] - begin
        count, largest = np.int64(0), -np.inf
        for k in range(n):
            space.first[k] = count
            count = fire_neighbours(choices, tokens, t, begin + k, size, space.slots, count)
            score = choices.ln_prob[begin + k]
            for i in range(space.first[k], count):
                score += np.float64(state.weights[space.slots[i]])
            space.prob[k] = score
            largest = max(largest, score)
        space.first[n] = count
        total = 0.0
        for k in range(n):
            space.prob[k] = np.exp(space.prob[k] - largest)
            total += space.prob[k]
        for k in range(n):
            gradient = space.prob[k] / total - np.float64(k == right[t])
            if abs(gradient) < LEAST_GRADIENT:
                continue
            for i in range(space.first[k], space.first[k + 1]):
                slot = space.slots[i]
                slope = gradient + penalty * np.float64(state.weights[slot])
                square = np.float64(state.squares[slot]) + slope * slope
                state.squares[slot] = square
                state.weights[slot] -= rate * slope / np.sqrt(square)


def learn_sparse(choices: Choices, tokens: Tokens, right: np.ndarray, settings: SparseSettings) -> np.ndarray:
    """Learn weights (float32[S]) from the tokens whose `right` is not -1.

    `right`: int64[T], index of each token's right form among the candidates of its word.
    """
    size = 1 << settings.bits
    state = LearningState(np.zeros(size, np.float32), np.full(size, FIRST_SQUARE, np.float32))
    most = int(np.diff(choices.first).max(initial=0)) + 1
    slots = np.empty(most * FEATURES, np.int32)
    space = LearningSpace(slots, np.empty(most + 1, np.int64), np.empty(most))
    learned = np.flatnonzero((right >= 0) & (np.diff(choices.first)[tokens.word] > 1))
    steps, rng = np.array([settings.rate, settings.penalty]), np.random.default_rng(settings.seed)
    for _ in range(settings.passes if settings.neighbours else 0):
        order = rng.permutation(learned)
        learn_pass(choices, tokens, right, order, steps, state, space)
    return state.weights
