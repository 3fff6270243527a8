"""Compares systems sentence by sentence: scores by sacrebleu's chrF++, and gains over the first system."""

from collections.abc import Sequence
from typing import NamedTuple

from phrasebeam.training.metrics.definitions import METRICS, MetricOptions
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, EvaluationOptions

METRIC = "chrf++"  # scores single sentences
DIGITS = 6  # decimals of a score; smaller gains are rounding errors


class Gains(NamedTuple):
    """Gains of a system over the first, by sentence; sentences are numbered from 0."""

    values: Sequence[float]  # differences of scores, 0 to 100
    won: Sequence[int]  # sentences that are better, with the largest gain first
    lost: Sequence[int]  # sentences that are worse, with the largest loss first

    @property
    def n_tied(self) -> int:
        """Number of sentences with equal scores."""
        return len(self.values) - len(self.won) - len(self.lost)


def sentence_scores(texts: EvaluatedTexts, options: EvaluationOptions) -> dict[str, list[float]]:
    """Scores of each sentence, from 0 to 100, by system; several references are treated as in sacrebleu."""
    metric = METRICS[METRIC].sacrebleu(MetricOptions(options.lowercase), None)
    references = list(zip(*texts.references))
    return {
        name: [
            round(metric.sentence_score(line, among).score, DIGITS)
            for line, among in zip(lines, references, strict=True)
        ]
        for name, lines in texts.systems.items()
    }


def length_ratios(texts: EvaluatedTexts, options: EvaluationOptions) -> list[float]:
    """The length ratio of each system to the references, as in BLEU: with its tokenizer, closest reference lengths."""
    metric = METRICS["bleu"].sacrebleu(MetricOptions(options.lowercase, options.tokenize), texts.references)
    return [float(metric.corpus_score(list(lines), None).ratio) for lines in texts.systems.values()]


def gains(first: Sequence[float], other: Sequence[float]) -> Gains:
    """Gains of the scores `other` over the scores `first`; of equal gains, the earlier sentence comes first."""
    values = [round(b - a, DIGITS) for a, b in zip(first, other, strict=True)]
    order = sorted(range(len(values)), key=lambda number: (-abs(values[number]), number))
    return Gains(values, [i for i in order if values[i] > 0], [i for i in order if values[i] < 0])
