"""Kernels that compute the score of any metric from its statistics; trainers call them in their loops."""

from phrasebeam.decoder.ngrams.chrf import chrf_of_sums
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.metrics.bleu import bleu_of_sums
from phrasebeam.training.metrics.definitions import ACCURACY_KIND, BLEU_KIND, CHRF_KIND, ERROR_KIND
from phrasebeam.training.metrics.sentence_bleu import smoothed_bleu


@inlined_kernel
def ter_of_sums(sums):
    """Negated TER, from the sums of edits and of reference lengths, `sums` (float64[2])."""
    if sums[1] > 0.0:
        return -sums[0] / sums[1]
    return -1.0 if sums[0] > 0.0 else 0.0


@inlined_kernel
def share_of_sums(sums):
    """sums[0] / sums[1] (float64[2]), where sums[1] is the size of the references; if that is 0, sums[0]."""
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
    """Write the scores of hypotheses by the metric `kind` (int64) to `out` (float64[K]).

    `statistics`: float32[K, S]. BLEU is smoothed by adding one; other metrics are computed as for a corpus. `sums`
    (float64[S]) is work space.
    """
    for k in range(out.size):
        for s in range(sums.size):
            sums[s] = statistics[k, s]
        out[k] = smoothed_bleu(sums) if kind == BLEU_KIND else score_of_sums(kind, sums)
