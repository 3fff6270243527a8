"""Future cost: the best score that the words not yet translated can add (Koehn et al. 2003, section 3.2).

The estimate of a span is the best sum of option estimates over all ways to cut it into phrases; distortion, lexicalized
reordering and the sentence end are left out, as in Moses, and so are sparse features that depend on other phrases. A
coverage has gaps of at most 64 words and the open end of the sentence, so that n * 64 spans and n suffixes are all that
is needed.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, NONE, ONE
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.kernels.jit import kernel


class FutureCost(NamedTuple):
    """Future cost estimates for a sentence of up to N words, as weighted scores."""

    spans: np.ndarray  # float64[N + 1, 65], at [i, k] for the span of k words from word i
    suffixes: np.ndarray  # float64[N + 1], for the words from i to the end


def new_future_cost(n_words: int) -> FutureCost:
    """FutureCost for sentences of up to `n_words` words."""
    return FutureCost(np.zeros((n_words + 1, COVERAGE_WINDOW + 1)), np.zeros(n_words + 1))


@kernel
def fill_future_cost(options: Options, n_words, is_counted: bool, future: FutureCost):
    """Fill `future` for a sentence of `n_words` (int64) from the estimates of the best option of each span.

    Unless `is_counted`, the estimates are 0, and hypotheses are compared by their scores alone, as in Yu et al. (2013,
    equation 2); spans that no options can translate are still -inf.
    """
    longest = options.longest
    future.suffixes[n_words] = 0.0
    for begin in range(n_words - 1, -1, -1):
        n_left = n_words - begin
        future.suffixes[begin] = -np.inf
        future.spans[begin, 0] = 0.0
        for size in range(1, min(n_left, COVERAGE_WINDOW) + 1):
            future.spans[begin, size] = -np.inf
        for length in range(1, min(longest, n_left) + 1):
            first = options.first[begin * longest + length - 1]
            if first == options.first[begin * longest + length]:
                continue
            estimate = options.estimate[first] if is_counted else 0.0
            whole = estimate + future.suffixes[begin + length]
            future.suffixes[begin] = max(future.suffixes[begin], whole)
            for size in range(length, min(n_left, COVERAGE_WINDOW) + 1):
                whole = estimate + future.spans[begin + length, size - length]
                future.spans[begin, size] = max(future.spans[begin, size], whole)


@kernel
def future_cost(future: FutureCost, first_gap, window):
    """The estimate (float64) for all gaps of a coverage, `first_gap` (int64) and `window` (uint64)."""
    total = 0.0
    begin = first_gap
    while window != NONE:
        size = 0
        while window & ONE == NONE:
            window >>= ONE
            size += 1
        total += future.spans[begin, size]
        begin += size
        while window & ONE != NONE:
            window >>= ONE
            begin += 1
    return total + future.suffixes[begin]
