"""Word error rate, character error rate and accuracy of whole segments, as metrics of sacrebleu; the rates are jiwer's.

Edits are insertions, deletions and substitutions (Levenshtein 1966) against the closest reference, whose number of
words or of code points they are divided by; of several references it is the mean. Outer white space does not count.
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
    """sacrebleu's signature of each metric, and whether case matters; the version is that of phrasebeam."""

    def __init__(self, args: dict[str, Any]):
        super().__init__(args)
        self.info |= {"case": "lc" if args["lowercase"] else "mixed", "version": f"phrasebeam-{version('phrasebeam')}"}


class SegmentMetric(Metric):
    """A share of two sums over segments; the second is the size of the references."""

    _SIGNATURE_TYPE = SegmentSignature
    name: str

    def __init__(self, lowercase: bool = False, references: Sequence[Sequence[str]] | None = None):
        super().__init__()
        self.lowercase = lowercase
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _units(self, segment: str) -> Sequence[str]:
        """The units in which a segment is compared."""
        raise NotImplementedError

    def _compared(self, units: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
        """Edits against the closest reference, and the mean size of all."""
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
    """Edits of words, which spaces part; two characters of white space or more are one space."""

    name = "WER"

    def _units(self, segment: str) -> list[str]:
        return [word for word in SPACES.sub(" ", segment).strip().split(" ") if word]


class CharacterErrorRate(SegmentMetric):
    """Edits of code points, spaces among them."""

    name = "CER"

    def _units(self, segment: str) -> str:
        return segment


class Accuracy(SegmentMetric):
    """The share of segments that are the same as a reference."""

    name = "accuracy"

    def _units(self, segment: str) -> str:
        return segment

    def _compared(self, units: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
        return float(units in references), 1.0


class PluginMetric(SegmentMetric):
    """A metric of a plugin: of several references the one with the best share of amount and size."""

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
