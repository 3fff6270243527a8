"""Systems compared sentence by sentence: their scores by sacrebleu's chrF++, what each gains on the first."""

from collections.abc import Sequence
from typing import NamedTuple

from phrasebeam.training.metrics.definitions import METRICS, MetricOptions
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, EvaluationOptions

METRIC = "chrf++"  # of single sentences
DIGITS = 6  # of a score; gains that are smaller come of rounding


class Gains(NamedTuple):
    """Gains of a system over the first, by sentence; sentences are numbered from 0."""

    values: Sequence[float]  # differences of scores, 0 to 100
    won: Sequence[int]  # sentences that are better, the largest gain first
    lost: Sequence[int]  # those that are worse, the largest loss first

    @property
    def n_tied(self) -> int:
        """Number of sentences with equal scores."""
        return len(self.values) - len(self.won) - len(self.lost)


def sentence_scores(texts: EvaluatedTexts, options: EvaluationOptions) -> dict[str, list[float]]:
    """Scores of each sentence of each system, from 0 to 100; several references count as sacrebleu has it."""
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
    """Words of each system by those of the references, as BLEU counts them: by its tokenizer, the closest length."""
    metric = METRICS["bleu"].sacrebleu(MetricOptions(options.lowercase, options.tokenize), texts.references)
    return [float(metric.corpus_score(list(lines), None).ratio) for lines in texts.systems.values()]


def gains(first: Sequence[float], other: Sequence[float]) -> Gains:
    """Gains of the scores `other` over `first`; of equal gains the earlier sentence comes first."""
    values = [round(b - a, DIGITS) for a, b in zip(first, other, strict=True)]
    order = sorted(range(len(values)), key=lambda number: (-abs(values[number]), number))
    return Gains(values, [i for i in order if values[i] > 0], [i for i in order if values[i] < 0])
