"""From statistics to scores, for every metric in one kernel: what trainers call in their loops."""

from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.metrics.bleu import bleu_of_sums
from phrasebeam.training.metrics.definitions import ACCURACY_KIND, BLEU_KIND, CHRF_KIND, ERROR_KIND
from phrasebeam.training.metrics.sentence_bleu import smoothed_bleu

BETA_SQUARED = 4.0  # chrF2: recall counts twice as much as precision


@inlined_kernel
def chrf_of_sums(sums):
    """chrF2 or chrF2++ in [0, 1]; `sums` (float64[S]) are hypothesis n-grams, reference n-grams, matches, by order."""
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
    """TER, negated, of `sums` (float64[2]) of edits and of reference length."""
    if sums[1] > 0.0:
        return -sums[0] / sums[1]
    return -1.0 if sums[0] > 0.0 else 0.0


@inlined_kernel
def share_of_sums(sums):
    """The first of `sums` (float64[2]) by the second, the size of the references; where that is 0, the first itself."""
    return sums[0] / sums[1] if sums[1] > 0.0 else sums[0]


@inner_kernel
def score_of_sums(kind, sums):
    """The score of a corpus by the metric `kind` (int64), whose statistics add up to `sums` (float64[S])."""
    if kind == BLEU_KIND:
        return bleu_of_sums(sums)
    if kind == CHRF_KIND:
        return chrf_of_sums(sums)
    if kind == ERROR_KIND:
        return -share_of_sums(sums)
    if kind == ACCURACY_KIND:
        return share_of_sums(sums)
    return ter_of_sums(sums)


@kernel
def score_rows(kind, sums, out):
    """Write score_of_sums by `kind` (int64) of every row of `sums` (float64[K, S]) to `out` (float64[K])."""
    for k in range(out.size):
        out[k] = score_of_sums(kind, sums[k])


@kernel
def smoothed_rows(kind, statistics, sums, out):
    """Write scores by `kind` (int64) of hypotheses with `statistics` (float32[K, S]) to `out` (float64[K]).

    BLEU is smoothed by adding one; other metrics are as of a corpus. `sums` (float64[S]) is work space.
    """
    for k in range(out.size):
        for s in range(sums.size):
            sums[s] = statistics[k, s]
        out[k] = smoothed_bleu(sums) if kind == BLEU_KIND else score_of_sums(kind, sums)
