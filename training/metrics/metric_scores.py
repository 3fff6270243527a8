"""From statistics to scores, for every metric in one kernel: what trainers call in their loops."""

from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.metrics.bleu import bleu_of_sums
from phrasebeam.training.metrics.definitions import BLEU_KIND, CHRF_KIND
from phrasebeam.training.metrics.sentence_bleu import smoothed_bleu

BETA_SQUARED = 4.0  # chrF2: recall counts twice as much as precision


@inlined_kernel
def chrf_of_sums(sums):
    """chrF2 or chrF2++ in [0, 1] of sums of [n-grams of the hypothesis, of the reference, matches] for each order."""
    precision, recall, orders = 0.0, 0.0, 0
    for i in range(0, sums.size, 3):
        if sums[i] > 0.0 and sums[i + 1] > 0.0:
            precision += sums[i + 2] / sums[i]
            recall += sums[i + 2] / sums[i + 1]
            orders += 1
    if precision + recall <= 0.0:
        return 0.0
    return (1.0 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall) / orders


@inlined_kernel
def ter_of_sums(sums):
    """-TER of sums of [edits, reference length]."""
    if sums[1] > 0.0:
        return -sums[0] / sums[1]
    return -1.0 if sums[0] > 0.0 else 0.0


@inner_kernel
def score_of_sums(kind, sums):
    """The score of a corpus whose statistics add up to `sums` (float64[S])."""
    if kind == BLEU_KIND:
        return bleu_of_sums(sums)
    if kind == CHRF_KIND:
        return chrf_of_sums(sums)
    return ter_of_sums(sums)


@kernel
def score_rows(kind, sums, out):
    """score_of_sums of every row of `sums` (float64[K, S])."""
    for k in range(out.size):
        out[k] = score_of_sums(kind, sums[k])


@kernel
def smoothed_rows(kind, statistics, sums, out):
    """Scores of single hypotheses (float32[K, S]): BLEU smoothed by adding one, others as of a corpus.

    `sums` (float64[S]) is work space.
    """
    for k in range(out.size):
        for s in range(sums.size):
            sums[s] = statistics[k, s]
        out[k] = smoothed_bleu(sums) if kind == BLEU_KIND else score_of_sums(kind, sums)
