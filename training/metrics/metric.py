"""Metrics as sufficient statistics: counts for each hypothesis; their sums over a corpus give its score (Och 2003)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.metrics.bleu import ReferenceLength, References
from phrasebeam.training.metrics.chrf import ChrfReferences
from phrasebeam.training.metrics.definitions import CHRF_KIND, METRICS, MetricName, MetricOptions
from phrasebeam.training.metrics.metric_scores import score_rows, smoothed_rows
from phrasebeam.training.metrics.sentence_bleu import SENTENCE_BLEU, SentenceBleu, fill_sentence_gains

Counter = Callable[[np.ndarray, Sequence[str]], np.ndarray]  # statistics of texts, see Metric.statistics


class Metric:
    """One metric against the references of M sentences; `score` is higher for better translations."""

    def __init__(self, name: MetricName, n_sentences: int, count: Counter):
        """A metric on `n_sentences` sentences; the function `count` computes statistics of hypotheses."""
        self.name, self.n_sentences, self._count = name, n_sentences, count
        _, self.kind, self.n_statistics, self.scale, self.title = METRICS[name]

    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """The statistics of `texts` as translations of `sentences` (int64[K]), as float32[K, n_statistics]."""
        return self._count(sentences, texts)

    def score(self, sums: np.ndarray) -> np.ndarray:
        """Scores (float64[K]) of K corpora, from the sums of their statistics (float64[K, n_statistics]).

        Scores are at most 1; error rates are negative, at most 0.
        """
        out = np.empty(len(sums))
        score_rows(self.kind, np.ascontiguousarray(sums, np.float64), out)
        return out

    def corpus_score(self, statistics: np.ndarray) -> float:
        """The score of one corpus, from the statistics of its hypotheses (float32[M, n_statistics])."""
        return float(self.score(statistics.sum(axis=0, dtype=np.float64)[None])[0])

    def sentence_scores(self, statistics: np.ndarray) -> np.ndarray:
        """Smoothed scores (float64[K]) of single hypotheses, from their statistics (float32[K, n_statistics])."""
        out = np.empty(len(statistics))
        smoothed_rows(self.kind, statistics, np.empty(self.n_statistics), out)
        return out

    def reported(self, score: float) -> float:
        """A score in the usual units: from 0 to 100; for TER, WER and CER 100 times the error rate."""
        return self.scale * score


def make_metric(
    name: MetricName,
    references: Sequence[Sequence[str]],
    lowercase: bool = False,
    length: ReferenceLength = "closest",
) -> Metric:
    """The metric `name` of tokenized text against `references`, one list for each set of references.

    `length` is BLEU's reference length. Raises ConfigError unless all sets have the same number of sentences.
    """
    sizes = sorted({len(lines) for lines in references})
    if len(sizes) != 1 or sizes == [0]:
        raise ConfigError(f"the references have {sizes} sentences; expected the same number in each, at least one")
    if name == "bleu":
        return Metric(name, sizes[0], partial(References(references, lowercase).statistics, length=length))
    if METRICS[name].kind == CHRF_KIND:
        return Metric(name, sizes[0], ChrfReferences(references, METRICS[name].n_statistics, lowercase).statistics)
    return Metric(name, sizes[0], SacrebleuCounter(name, references, lowercase).statistics)


def sentence_gains(metric: Metric, statistics: np.ndarray, name: SentenceBleu) -> np.ndarray:
    """Scores (float64[K]) of single hypotheses, from their statistics (float32[K, S], see Metric.statistics).

    `name` chooses the kind of sentence BLEU; it has no effect on other metrics, which use their sentence_scores.
    """
    if metric.name != "bleu":
        return metric.sentence_scores(statistics)
    out = np.empty(len(statistics))
    rows = np.ascontiguousarray(statistics, np.float32)
    fill_sentence_gains(SENTENCE_BLEU[name], rows, np.empty(metric.n_statistics), out)
    return out


class SacrebleuCounter:
    """Counts the statistics of a metric by sacrebleu, hypothesis by hypothesis."""

    def __init__(self, name: MetricName, references: Sequence[Sequence[str]], lowercase: bool):
        self.n_statistics = METRICS[name].n_statistics
        self.counter = counter = METRICS[name].sacrebleu(MetricOptions(lowercase), None)
        self.references = [
            counter._extract_reference_info([counter._preprocess_segment(line) for line in lines])
            for lines in zip(*references)
        ]

    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """The statistics of `texts` as translations of `sentences` (int64[K]), as float32[K, n_statistics]."""
        count, prepare = self.counter._compute_segment_statistics, self.counter._preprocess_segment
        counted: dict[tuple[int, str], list[float]] = {}
        for key in zip(sentences.tolist(), texts):
            if key not in counted:
                counted[key] = count(prepare(key[1]), self.references[key[0]])
        rows = [counted[key] for key in zip(sentences.tolist(), texts)]
        return np.array(rows, np.float32).reshape(-1, self.n_statistics)
