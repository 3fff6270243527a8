"""BLEU of single sentences, from the statistics of bleu.py, by which trainers choose hypotheses.

With m_n matches among the t_n n-grams, r and c the lengths of reference and hypothesis:

    lin-och  BLEU+1 (Lin & Och 2004): min(1, exp(1 - r / c)) (p1 p2 p3 p4) ** (1 / 4), p_1 = m_1 / t_1, and
             p_n = (m_n + 1) / (t_n + 1) for n > 1; 0 without a common word.
    nakov    BLEU+1 with smoothed unigrams and brevity (Nakov, Guzman & Vogel 2012; Green et al. 2013):
             p_n = (m_n + 1) / (t_n + 1) for all n, and brevity min(1, exp(1 - (r + 1) / c)); 0 without words.
    liang    Liang et al. (2006): BLEU_1 / 16 + BLEU_2 / 8 + BLEU_3 / 4 + BLEU_4 / 2, where BLEU_i is the brevity
             penalty of BLEU times (p_1 ... p_i) ** (1 / i) with p_n = m_n / t_n; at most 15 / 16.

He & Deng (2012) do not clip brevity, and long n-grams have priors: exp(1 - r / c) (p1 p2 p3 p4) ** (1 / 4) with

    p_n = m_n / t_n                                    for n = 1, 2,
    p_n = (m_n + 5 q_n) / (t_n + 5), q_n = p_{n-1} ** 2 / p_{n-2}    for n = 3, 4.

The prior q_n continues the precisions of the shorter n-grams (also Gao & He 2013). This BLEU is 0 without a common
bigram; it may be larger than 1 if the hypothesis is longer than its reference.
"""

from typing import Literal

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.training.metrics.bleu import LENGTH, MATCHES, ORDER, REFERENCE_LENGTH, TOTALS

SentenceBleu = Literal["lin-och", "nakov", "liang"]
LIN_OCH, NAKOV, LIANG = (np.int64(i) for i in range(3))
SENTENCE_BLEU: dict[SentenceBleu, np.int64] = {"lin-och": LIN_OCH, "nakov": NAKOV, "liang": LIANG}

PRIOR_WEIGHT = 5.0  # of the priors of He & Deng
SMOOTHED_FROM = 2  # index of 3-grams, the shortest n-grams with priors


@inlined_kernel
def smoothed_bleu(sums):
    """BLEU+1 in [0, 1] of a hypothesis with the statistics `sums` (float64[N_STATISTICS]); 0 without a common word."""
    if sums[MATCHES] <= 0.0:
        return 0.0
    ln_precision = np.log(sums[MATCHES] / sums[TOTALS])
    for n in range(1, ORDER):
        ln_precision += np.log((sums[MATCHES + n] + 1.0) / (sums[TOTALS + n] + 1.0))
    return np.exp(ln_precision / ORDER + min(0.0, 1.0 - sums[REFERENCE_LENGTH] / sums[LENGTH]))


@inlined_kernel
def nakov_bleu(sums):
    """Nakov's BLEU+1 of a hypothesis with the statistics `sums` (float64[N_STATISTICS]), see above; in [0, 1]."""
    if sums[LENGTH] <= 0.0:
        return 0.0
    ln_precision = 0.0
    for n in range(ORDER):
        ln_precision += np.log((sums[MATCHES + n] + 1.0) / (sums[TOTALS + n] + 1.0))
    return np.exp(ln_precision / ORDER + min(0.0, 1.0 - (sums[REFERENCE_LENGTH] + 1.0) / sums[LENGTH]))


@inlined_kernel
def liang_bleu(sums):
    """Liang's sum of BLEU_1 to BLEU_4 of a hypothesis with the statistics `sums` (float64[N_STATISTICS])."""
    total, share, ln_precision = 0.0, 1.0 / 2.0**ORDER, 0.0
    for n in range(ORDER):
        if sums[MATCHES + n] <= 0.0:
            break
        ln_precision += np.log(sums[MATCHES + n] / sums[TOTALS + n])
        total += share * np.exp(ln_precision / (n + 1) + min(0.0, 1.0 - sums[REFERENCE_LENGTH] / sums[LENGTH]))
        share *= 2.0
    return total


@kernel
def fill_sentence_gains(kind, statistics, sums, out):
    """Write the BLEU of `kind` (see SENTENCE_BLEU) of `statistics` (float32[K, N_STATISTICS]) to `out` (float64[K]).

    `sums` (float64[N_STATISTICS]) is work space.
    """
    for k in range(out.size):
        for s in range(sums.size):
            sums[s] = statistics[k, s]
        if kind == NAKOV:
            out[k] = nakov_bleu(sums)
        elif kind == LIANG:
            out[k] = liang_bleu(sums)
        else:
            out[k] = smoothed_bleu(sums)


@kernel
def fill_sentence_bleu(statistics, out):
    """Write He & Deng's BLEU of each row of `statistics` (float32[K, N_STATISTICS]) to `out` (float64[K])."""
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
    """He & Deng's BLEU (float64[K]) of hypotheses, from their statistics (float32[K, N_STATISTICS])."""
    out = np.empty(len(statistics))
    fill_sentence_bleu(np.ascontiguousarray(statistics, np.float32), out)
    return out
