"""Bounds of corpus BLEU as the hypothesis of one sentence changes; with them, few hypotheses need exact logarithms.

With x the relative change of a count, ln(1 + x) lies in [x - x ** 2, x] where |x| <= 1/2. The logarithm of BLEU is a
mean of such logarithms and a brevity penalty. So it changes by `growth`, with an error of at most `doubt`, which is
tiny if one sentence is a small part of the corpus. For BLEU itself, 1 + y <= exp(y), and exp(y) <= 1 + y + y ** 2 where
y <= 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import array
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.training.metrics.bleu import LENGTH, MATCHES, ORDER, REFERENCE_LENGTH

MOST_DOUBT = 0.25 / ORDER  # if doubt is less, every |x| is less than 1/2
SLACK = 1e-9  # added to bounds of BLEU; larger than their rounding errors


class BleuBounds(NamedTuple):
    """Statistics of H hypotheses by column, and work space for a list; the longest list has K hypotheses."""

    columns: np.ndarray  # float32[S, H], in the order of the lists
    growth: Annotated[np.ndarray, array(np.float64, "K")]
    doubt: Annotated[np.ndarray, array(np.float64, "K")]
    bound: Annotated[np.ndarray, array(np.float64, "K", fill=np.inf)]  # upper bound; inf if it is not known


@inner_kernel
def fill_bounds(bounds: BleuBounds, begin, size, sums, present, bleu, factor):
    """Fill bounds.bound with upper bounds of `factor` (float64) * BLEU for each hypothesis of a list.

    `begin`, `size` (int64): the list; `sums`: float64[S], statistics of the corpus with the current hypothesis of the
    sentence; `present` (float32[S]): statistics of this hypothesis; `bleu`: BLEU of this corpus.
    """
    growth, doubt = bounds.growth, bounds.doubt
    least = sums[MATCHES]
    for n in range(MATCHES, MATCHES + 2 * ORDER):
        least = min(least, sums[n])
    for j in range(size):
        growth[j], doubt[j], bounds.bound[j] = 0.0, 0.0, np.inf
    if least <= 0.0:
        return
    for n in range(MATCHES, MATCHES + ORDER):
        add_changes(bounds, n, begin, size, sums, present, 1.0)
        add_changes(bounds, n + ORDER, begin, size, sums, present, -1.0)
    lengths, references = bounds.columns[LENGTH], bounds.columns[REFERENCE_LENGTH]
    length, reference = sums[LENGTH] - present[LENGTH], sums[REFERENCE_LENGTH] - present[REFERENCE_LENGTH]
    ln_brevity = min(0.0, 1.0 - sums[REFERENCE_LENGTH] / sums[LENGTH])
    side, square = (1.0, 1.0) if factor > 0.0 else (-1.0, 0.0)
    for j in range(size):
        changed = max(1.0, length + lengths[begin + j])  # below 1 only if doubt is large, and the bound is not used
        ln_changed = min(0.0, 1.0 - (reference + references[begin + j]) / changed)
        ln_ratio = growth[j] + (ln_changed - ln_brevity) + side * doubt[j]
        found = factor * bleu * (1.0 + ln_ratio + square * ln_ratio * ln_ratio) + abs(factor) * SLACK
        bounds.bound[j] = found if doubt[j] < MOST_DOUBT and ln_ratio <= 1.0 else np.inf


@inlined_kernel
def add_changes(bounds: BleuBounds, n, begin, size, sums, present, sign):
    """Add the relative changes of count number `n` (int64), whose sum is above 0, to growth and doubt.

    `sign` (float64): 1, or -1 for a denominator; `begin`, `size` (int64), `sums` (float64[S]), `present` (float32[S]):
    see fill_bounds.
    """
    column, growth, doubt = bounds.columns[n], bounds.growth, bounds.doubt
    now, inverse = np.float64(present[n]), 1.0 / sums[n]
    for j in range(size):
        change = (column[begin + j] - now) * inverse
        growth[j] += sign / ORDER * change
        doubt[j] += change * change / ORDER
