"""Metrics as sufficient statistics: counts of each hypothesis, whose sum over a corpus gives the score (Och 2003).

Statistics are those of sacrebleu, in its order; for every metric number 1 is the size of the reference.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sacrebleu.metrics import CHRF, TER

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.metrics.bleu import N_STATISTICS, ReferenceLength, References
from phrasebeam.training.metrics.metric_scores import BLEU_KIND, CHRF_KIND, TER_KIND, score_rows, smoothed_rows

MetricName = Literal["bleu", "chrf", "ter"]


class Metric(ABC):
    """One metric against the references of M sentences; `score` is higher for better translations."""

    name: str
    kind: np.int64  # what kernels call it
    n_statistics: int

    def __init__(self, n_sentences: int):
        self.n_sentences = n_sentences

    @abstractmethod
    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """float32[K, n_statistics] of `texts` as translations of `sentences` (int64[K])."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        """float64[K] scores of the sums (float64[K, n_statistics]) of K corpora, in [0, 1]; TER in [-inf, 0]."""
        out = np.empty(len(sums))
        score_rows(self.kind, np.ascontiguousarray(sums, np.float64), out)
        return out

    def corpus_score(self, statistics: np.ndarray) -> float:
        """Score of one corpus, whose hypotheses have `statistics` (float32[M, n_statistics])."""
        return float(self.score(statistics.sum(axis=0, dtype=np.float64)[None])[0])

    def sentence_scores(self, statistics: np.ndarray) -> np.ndarray:
        """float64[K] scores of single hypotheses, smoothed (float32[K, n_statistics])."""
        out = np.empty(len(statistics))
        smoothed_rows(self.kind, statistics, np.empty(self.n_statistics), out)
        return out

    def reported(self, score: float) -> float:
        """A score as people know it: from 0 to 100, of TER 100 times the edit rate."""
        return 100 * score


class Bleu(Metric):
    """BLEU of tokenized text, sacrebleu's tok:none."""

    name, kind, n_statistics = "bleu", BLEU_KIND, N_STATISTICS

    def __init__(
        self, references: Sequence[Sequence[str]], lowercase: bool = False, length: ReferenceLength = "closest"
    ):
        super().__init__(len(references[0]))
        self.references, self.length = References(references, lowercase), length

    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """float32[K, n_statistics] of `texts` as translations of `sentences` (int64[K])."""
        return self.references.statistics(sentences, texts, self.length)


class SacrebleuMetric(Metric):
    """A metric whose statistics sacrebleu counts, hypothesis by hypothesis."""

    def __init__(self, references: Sequence[Sequence[str]], counter: Any):
        super().__init__(len(references[0]))
        self.counter = counter
        self.references = [
            counter._extract_reference_info([counter._preprocess_segment(line) for line in lines])
            for lines in zip(*references)
        ]

    def statistics(self, sentences: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """float32[K, n_statistics] of `texts` as translations of `sentences` (int64[K])."""
        count, prepare = self.counter._compute_segment_statistics, self.counter._preprocess_segment
        known: dict[tuple[int, str], list[float]] = {}
        for key in zip(sentences.tolist(), texts):
            if key not in known:
                known[key] = count(prepare(key[1]), self.references[key[0]])
        rows = [known[key] for key in zip(sentences.tolist(), texts)]
        return np.array(rows, np.float32).reshape(-1, self.n_statistics)


class Chrf(SacrebleuMetric):
    """chrF2 (Popović 2015), sacrebleu's chrF2|eff:yes|nc:6|nw:0|space:no."""

    name, kind, n_statistics = "chrf", CHRF_KIND, 18

    def __init__(self, references: Sequence[Sequence[str]], lowercase: bool = False):
        super().__init__(references, CHRF(lowercase=lowercase))


class Ter(SacrebleuMetric):
    """Translation edit rate (Snover et al. 2006), negative as a score; sacrebleu's TER|tok:tercom|norm:no|punct:yes."""

    name, kind, n_statistics = "ter", TER_KIND, 2

    def __init__(self, references: Sequence[Sequence[str]], lowercase: bool = False):
        super().__init__(references, TER(case_sensitive=not lowercase))

    def reported(self, score: float) -> float:
        """The edit rate in percent."""
        return -100 * score


def make_metric(
    name: MetricName,
    references: Sequence[Sequence[str]],
    lowercase: bool = False,
    length: ReferenceLength = "closest",
) -> Metric:
    """The metric of that name against `references`, one list for each set of them.

    Raises ConfigError unless all sets have as many sentences.
    """
    sizes = sorted({len(lines) for lines in references})
    if len(sizes) != 1 or sizes == [0]:
        raise ConfigError(f"the references have {sizes} sentences; expected as many, one or more, in each")
    if name == "bleu":
        return Bleu(references, lowercase, length)
    return (Chrf if name == "chrf" else Ter)(references, lowercase)
