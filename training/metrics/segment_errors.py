"""Word error rate, character error rate and accuracy of whole segments, as metrics of sacrebleu; the rates are jiwer's.

Edits are insertions, deletions and substitutions (Levenshtein 1966) against the closest reference. They are divided by
the number of words or of code points of the reference; with several references, by the mean of these numbers. White
space at the ends of a segment does not count.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.base import Metric, Score, Signature
from sacrebleu.utils import sum_of_lists

from phrasebeam.plugins.declarations import OwnMetric

SPACES = re.compile(r"\s\s+")


class SegmentSignature(Signature):
    """A signature as in sacrebleu, with the case of the metric; the version is that of phrasebeam."""

    def __init__(self, args: dict[str, Any]):
        super().__init__(args)
        self.info |= {"case": "lc" if args["lowercase"] else "mixed", "version": f"phrasebeam-{version('phrasebeam')}"}


class SegmentMetric(Metric):
    """A metric that is the ratio of two sums over segments; the second is the size of the references."""

    _SIGNATURE_TYPE = SegmentSignature
    name: str

    def __init__(self, lowercase: bool = False, references: Sequence[Sequence[str]] | None = None):
        super().__init__()
        self.lowercase = lowercase
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _units(self, segment: str) -> Sequence[str]:
        """Split a segment into the units that are compared."""
        raise NotImplementedError

    def _compared(self, units: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
        """Edits against the closest reference, and the mean size of all references."""
        edits = min(Levenshtein.distance(units, reference) for reference in references)
        return edits, sum(map(len, references)) / len(references)

    def _preprocess_segment(self, sent: str) -> str:
        return sent.strip().lower() if self.lowercase else sent.strip()

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [self._units(reference) for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: Mapping[str, Any]) -> list[float]:
        return [*self._compared(self._units(hypothesis), ref_kwargs["references"])]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return Score(self.name, 100.0 * stats[0] / (stats[1] or 1.0))

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats(sum_of_lists(stats))


class WordErrorRate(SegmentMetric):
    """Edits of words between spaces; a sequence of two or more characters of white space counts as one space."""

    name = "WER"

    def _units(self, segment: str) -> list[str]:
        return [word for word in SPACES.sub(" ", segment).strip().split(" ") if word]


class CharacterErrorRate(SegmentMetric):
    """Edits of code points, including spaces."""

    name = "CER"

    def _units(self, segment: str) -> str:
        return segment


class Accuracy(SegmentMetric):
    """The share of segments that are equal to a reference."""

    name = "accuracy"

    def _units(self, segment: str) -> str:
        return segment

    def _compared(self, units: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
        return float(units in references), 1.0


class PluginMetric(SegmentMetric):
    """A metric of a plugin. With several references, the one with the best ratio of amount and size counts."""

    def __init__(
        self,
        name: str,
        own: OwnMetric,
        lowercase: bool = False,
        references: Sequence[Sequence[str]] | None = None,
    ):
        self.name, self.own = name, own
        super().__init__(lowercase, references)

    def _units(self, segment: str) -> str:
        return segment

    def _compared(self, units: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
        found = [self.own.compare(str(units), str(reference)) for reference in references]
        best = min if self.own.is_error else max
        amount, size = best(found, key=lambda one: one[0] / (one[1] or 1.0))
        return float(amount), float(size)
