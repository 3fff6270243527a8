"""BLEU of single sentences as He & Deng (2012) have it: brevity is not clipped, long n-grams have priors.

BLEU = exp(1 - r / c) * (p1 p2 p3 p4) ** (1 / 4), r and c being the lengths of reference and hypothesis, with

    p_n = m_n / t_n                                    for n = 1, 2: matches among the t_n n-grams,
    p_n = (m_n + 5 q_n) / (t_n + 5), q_n = p_{n-1} ** 2 / p_{n-2}    for n = 3, 4.

The prior q_n goes on as the shorter n-grams do (also Gao & He 2013). Without a common word pair BLEU is 0; of
hypotheses longer than their reference it may be larger than 1.
"""

import numpy as np

from phrasebeam.kernels.jit import kernel
from phrasebeam.training.metrics.bleu import LENGTH, MATCHES, ORDER, REFERENCE_LENGTH, TOTALS

PRIOR_WEIGHT = 5.0
SMOOTHED_FROM = 2  # place of 3-grams


@kernel
def fill_sentence_bleu(statistics, out):
    """Write BLEU of rows of `statistics` (float32[K, N_STATISTICS], see training/bleu.py) to `out` (float64[K])."""
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
    """float64[K] BLEU of hypotheses, from their statistics (float32[K, N_STATISTICS])."""
    out = np.empty(len(statistics))
    fill_sentence_bleu(np.ascontiguousarray(statistics, np.float32), out)
    return out
