"""Definitions of the metrics: how sacrebleu computes each, and from which statistics trainers optimize it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

from phrasebeam.plugins.declarations import OwnMetric, extended, plugins
from phrasebeam.training.metrics.segment_errors import Accuracy, CharacterErrorRate, PluginMetric, WordErrorRate
from phrasebeam.training.metrics.ter import EditRate

BLEU_KIND, CHRF_KIND, TER_KIND, ERROR_KIND, ACCURACY_KIND = (np.int64(i) for i in range(5))  # see metric_scores.py

References = Sequence[Sequence[str]]  # one list of sentences for each set of references


class MetricOptions(NamedTuple):
    """Options of metrics; the comment on each says which metrics it concerns."""

    lowercase: bool = False  # of all metrics but TER, which always ignores case, as in sacrebleu
    tokenize: str | None = "none"  # BLEU's tokenizer; None: sacrebleu's own choice


class MetricDefinition(NamedTuple):
    """One metric, as `evaluate` and all trainers use it."""

    sacrebleu: Callable[[MetricOptions, References | None], Any]  # makes sacrebleu's Metric, with or without references
    kind: np.int64  # kernel that computes scores from sums of statistics; higher scores are better
    n_statistics: int  # of a hypothesis, as in sacrebleu; in every metric, statistic 1 is the size of the reference
    scale: float = 100.0  # factor from the kernel's score to the usual one; negative if lower usual scores are better
    title: str = "score"  # name in figures


_BUILT_IN: dict[str, MetricDefinition] = {
    "bleu": MetricDefinition(  # Papineni et al. 2002
        lambda options, references: BLEU(
            lowercase=options.lowercase, tokenize=options.tokenize, force=True, references=references
        ),
        BLEU_KIND,
        n_statistics=10,
        title="BLEU",
    ),
    "chrf": MetricDefinition(  # chrF2, Popović 2015
        lambda options, references: CHRF(lowercase=options.lowercase, references=references),
        CHRF_KIND,
        n_statistics=18,
        title="chrF2",
    ),
    "chrf++": MetricDefinition(  # chrF2 with n-grams of one and two words, Popović 2017
        lambda options, references: CHRF(word_order=2, lowercase=options.lowercase, references=references),
        CHRF_KIND,
        n_statistics=24,
        title="chrF++",
    ),
    "ter": MetricDefinition(  # translation edit rate, Snover et al. 2006
        lambda options, references: EditRate(references=references),
        TER_KIND,
        n_statistics=2,
        scale=-100.0,
        title="TER",
    ),
    "wer": MetricDefinition(  # word error rate
        lambda options, references: WordErrorRate(options.lowercase, references),
        ERROR_KIND,
        n_statistics=2,
        scale=-100.0,
        title="WER",
    ),
    "cer": MetricDefinition(  # character error rate
        lambda options, references: CharacterErrorRate(options.lowercase, references),
        ERROR_KIND,
        n_statistics=2,
        scale=-100.0,
        title="CER",
    ),
    "accuracy": MetricDefinition(  # of whole segments
        lambda options, references: Accuracy(options.lowercase, references),
        ACCURACY_KIND,
        n_statistics=2,
        title="accuracy",
    ),
}


def _of_plugin(name: str, own: OwnMetric) -> MetricDefinition:
    """The definition of a plugin's metric, which is the ratio of two sums."""
    kind, scale = (ERROR_KIND, -100.0) if own.is_error else (ACCURACY_KIND, 100.0)
    return MetricDefinition(
        lambda options, references: PluginMetric(name, own, options.lowercase, references),
        kind,
        n_statistics=2,
        scale=scale,
        title=own.title,
    )


METRICS = extended(_BUILT_IN, {name: _of_plugin(name, own) for name, own in plugins().metrics.items()})
if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[tuple(METRICS)]
