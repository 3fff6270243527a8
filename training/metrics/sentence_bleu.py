"""BLEU of single sentences, from the statistics of bleu.py: BLEU+1 (Lin & Och 2004) and that of He & Deng (2012).

BLEU+1 adds one match and one n-gram for n > 1. He & Deng do not clip brevity, and long n-grams have
priors: BLEU = exp(1 - r / c) * (p1 p2 p3 p4) ** (1 / 4), r and c being the lengths of reference and hypothesis, with

    p_n = m_n / t_n                                    for n = 1, 2: matches among the t_n n-grams,
    p_n = (m_n + 5 q_n) / (t_n + 5), q_n = p_{n-1} ** 2 / p_{n-2}    for n = 3, 4.

The prior q_n goes on as the shorter n-grams do (also Gao & He 2013). Without a common word pair BLEU is 0; of
hypotheses longer than their reference it may be larger than 1.
"""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.training.metrics.bleu import LENGTH, MATCHES, ORDER, REFERENCE_LENGTH, TOTALS

PRIOR_WEIGHT = 5.0  # of He & Deng
SMOOTHED_FROM = 2  # index of 3-grams


@inlined_kernel
def smoothed_bleu(sums):
    """BLEU+1 in [0, 1] of a hypothesis with the statistics `sums` (float64[N_STATISTICS]); 0 without a common word."""
    if sums[MATCHES] <= 0.0:
        return 0.0
    ln_precision = np.log(sums[MATCHES] / sums[TOTALS])
    for n in range(1, ORDER):
        ln_precision += np.log((sums[MATCHES + n] + 1.0) / (sums[TOTALS + n] + 1.0))
    return np.exp(ln_precision / ORDER + min(0.0, 1.0 - sums[REFERENCE_LENGTH] / sums[LENGTH]))


@kernel
def fill_sentence_bleu(statistics, out):
    """Write He & Deng's BLEU of rows of `statistics` (float32[K, N_STATISTICS], see bleu.py) to `out` (float64[K])."""
    for k in range(out.size):
        out[k] = 0.0
        if statistics[k, MATCHES + 1] <= 0:
            continue
        ln_product, before, last = 0.0, 0.0, 0.0
        for n in range(ORDER):
            matches, total = np.float64(statistics[k, MATCHES + n]), np.float64(statistics[k, TOTALS + n])
            if n < SMOOTHED_FROM:
                precision = matches / total
            else:
                precision = (matches + PRIOR_WEIGHT * last * last / before) / (total + PRIOR_WEIGHT)
            before, last = last, precision
            ln_product += np.log(precision)
        ratio = np.float64(statistics[k, REFERENCE_LENGTH]) / np.float64(statistics[k, LENGTH])
        out[k] = np.exp(1.0 - ratio + ln_product / ORDER)


def sentence_bleu(statistics: np.ndarray) -> np.ndarray:
    """float64[K] He & Deng's BLEU of hypotheses, from their statistics (float32[K, N_STATISTICS])."""
    out = np.empty(len(statistics))
    fill_sentence_bleu(np.ascontiguousarray(statistics, np.float32), out)
    return out
