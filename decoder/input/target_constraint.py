"""A target text with which the translation must begin, as an automaton that the search runs like a language model.

Its state is the number of words produced. It rules out words that contradict the text, and accepts any word once the
text has been produced. Until then, a hypothesis is charged in advance the least penalties that the rest of the text
needs; they are credited when they are incurred. Hypotheses that have produced more or less of the text are thus
comparable, and the sum over a whole translation is 0 except for `ln_rest[0]`, with which the search starts. The rest is
known where a phrase ends, but phrases are scored in two steps: P + 1 + i is the state after the first word of a longer
phrase that began in state i.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.synthetic_pairs import synthetic_number
from phrasebeam.kernels.jit import inlined_kernel, kernel

CONTRADICTED = np.int64(-1)
ENDS_PHRASE = np.bool_(False)  # value of `is_open`; with a literal, numba would compile `follow` once more


class TargetConstraint(NamedTuple):
    """P words with which a translation must begin."""

    first: np.ndarray  # int64[P + 1], ids allowed as word i are allowed[first[i]:first[i + 1]]
    allowed: np.ndarray  # int32[...], ascending target ids: one, or for a partial word all words that begin with it
    ln_rest: np.ndarray  # float64[P + 1], best sum of penalties for the words from i on; -inf: they cannot be produced


NO_CONSTRAINT = TargetConstraint(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(1))


@inlined_kernel
def is_produced(constraint: TargetConstraint, position):
    """Whether the whole text has been produced in state `position`."""
    return position == constraint.ln_rest.size - 1


@inlined_kernel
def follow(constraint: TargetConstraint, words, begin, end, position, is_open):
    """The state after words[begin:end] (of int32[n]) from state `position` on, or CONTRADICTED.

    If `is_open`, they are the first word of a longer phrase; otherwise a phrase ends with them.
    """
    n_words, start = constraint.ln_rest.size - 1, phrase_start(constraint, position)
    reached = start + (position != start)
    for i in range(begin, end):
        if reached == n_words:
            break
        if not _is_allowed(constraint, reached, np.int64(words[i])):
            return CONTRADICTED
        reached += 1
    if is_open:
        return n_words + 1 + start if start < n_words else n_words
    return CONTRADICTED if constraint.ln_rest[reached] == -np.inf else reached


@inlined_kernel
def phrase_start(constraint: TargetConstraint, position):
    """Number of words produced before the phrase to which state `position` belongs."""
    n_words = constraint.ln_rest.size - 1
    return position - n_words - 1 if position > n_words else position


@inlined_kernel
def _is_allowed(constraint, position, word):
    """Whether `word` is allowed as the word at `position`, by bisection."""
    low, high = constraint.first[position], constraint.first[position + 1]
    last = high
    while low < high:
        middle = (low + high) // 2
        if constraint.allowed[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low < last and constraint.allowed[low] == word


@kernel
def fill_rest(constraint: TargetConstraint, options, n_options, ln_penalty):
    """Fill `ln_rest`: the best sum of penalties over all ways to divide the rest of the text into target phrases.

    The phrases are those of the first `n_options` of `options` (Options), whatever source words they cover; synthetic
    pairs have the penalties `ln_penalty` (float64[K]), other pairs none.
    """
    constraint.ln_rest[:] = 0.0
    for position in range(constraint.ln_rest.size - 2, -1, -1):
        best = -np.inf
        for option in range(n_options):
            pair, target = options.pair[option], np.int64(options.target[option])
            begin, end = options.target_first[target], options.target_first[target + 1]
            after = follow(constraint, options.words, begin, end, np.int64(position), ENDS_PHRASE)
            if after > position:
                penalty = ln_penalty[synthetic_number(pair)] if pair < 0 else 0.0
                best = max(best, penalty + constraint.ln_rest[after])
        constraint.ln_rest[position] = best
