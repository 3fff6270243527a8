"""A target text that must be produced: an automaton over target words, run by the search as one more language model.

Its state is the number of words produced. It never speaks after the text has been produced, and rules out whatever
contradicts it before that. Up to then it adds what the rest of the text is sure to cost, and takes that back as it
is paid: so hypotheses that have produced more and less of the text are compared fairly, and the sum over a whole
translation is 0 but for `ln_rest[0]`, with which the search starts. Costs are known where a phrase ends, but phrases
are scored in two steps: P + 1 + i is the state after the first word of a longer phrase that began when it was i.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.synthetic_pairs import synthetic_number
from phrasebeam.kernels.jit import inlined_kernel, kernel

CONTRADICTED = np.int64(-1)
WHOLE = np.bool_(False)  # not open; a literal would compile `follow` once more


class TargetConstraint(NamedTuple):
    """P words with which a translation must begin."""

    first: np.ndarray  # int64[P + 1], into `allowed`
    allowed: np.ndarray  # int32[...], ascending target ids for each word: one, or all that a word begun may become
    ln_rest: np.ndarray  # float64[P + 1], at best the penalties of the words from there on; -inf: cannot be produced


NOTHING = TargetConstraint(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(1))


@inlined_kernel
def is_produced(constraint, position):
    """Whether the whole text has been produced in the state `position`."""
    return position == constraint.ln_rest.size - 1


@inlined_kernel
def follow(constraint, words, begin, end, position, is_open):
    """The state after words[begin:end] in the state `position`, or CONTRADICTED.

    Where `is_open`, they are the one first word of a longer phrase; otherwise a phrase ends with them.
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
def phrase_start(constraint, position):
    """How many words had been produced when the phrase began that the state `position` is in."""
    n_words = constraint.ln_rest.size - 1
    return position - n_words - 1 if position > n_words else position


@inlined_kernel
def _is_allowed(constraint, position, word):
    """Whether `word` may stand at that position, by bisection."""
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
def fill_rest(constraint, options, n_options, ln_penalty):
    """Fill in `ln_rest`: the best that cutting the text into options leaves of their penalties.

    `ln_penalty` (float64[K]) are those of the sentence's synthetic pairs. Which words they cover does not matter here.
    """
    constraint.ln_rest[:] = 0.0
    for position in range(constraint.ln_rest.size - 2, -1, -1):
        best = -np.inf
        for option in range(n_options):
            pair, target = options.pair[option], np.int64(options.target[option])
            begin, end = options.target_first[target], options.target_first[target + 1]
            after = follow(constraint, options.words, begin, end, np.int64(position), WHOLE)
            if after > position:
                penalty = ln_penalty[synthetic_number(pair)] if pair < 0 else 0.0
                best = max(best, penalty + constraint.ln_rest[after])
        constraint.ln_rest[position] = best
