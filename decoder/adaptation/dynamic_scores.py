"""Scores of phrase pairs by the counts of the model and of confirmed segments together.

p(e|f) = (c(f) p'(e|f) + d(f, e)) / (c(f) + d(f)), where p' and c are of the model's table and d of confirmed segments,
and likewise p(f|e): relative frequencies of the sums where p' are such, and as good for smoothed and imported ones.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.dynamic_counts import N_COUNTS, DynamicCounts, DynamicPair
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.adaptation.word_translation import counts_of
from phrasebeam.decoder.adaptation.segment import Words
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS, SMOOTHING, Orientations
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    SOURCE_GIVEN_TARGET,
    TARGET_GIVEN_SOURCE,
    floored_ln,
)

LEX_SOURCE, LEX_TARGET = 1, 3  # columns of ln lex(f|e) and ln lex(e|f)
UNLINKED = 0.05  # p(word | no word)
UNSEEN = 1e-4  # p(word | word) of words that are linked for the first time, in an alignment that was given


class PairScores(NamedTuple):
    """A phrase pair with the counts of confirmed segments."""

    source: Words
    target: Words
    points: tuple[tuple[int, int], ...]
    original: int  # number in the model's table, or ABSENT
    ln_scores: np.ndarray  # float32[K]
    ln_reordering: np.ndarray  # float32[C]
    counts: tuple[int, int, int]  # c(f, e), c(f), c(e)


class DynamicScores:
    """Scores of the phrase pairs of confirmed segments, at their present counts."""

    def __init__(self, static: StaticCounts, dynamic: DynamicCounts):
        self.static, self.dynamic = static, dynamic
        self.description, self.tables = static.model.description, static.model.tables

    def pairs(self, source: Words) -> list[PairScores]:
        """All pairs of a source phrase that confirmed segments have."""
        number = self.static.source(source)
        found = self.dynamic.pairs.get(source, {})
        shared = self._source_orientations(number, source) if self._is_by_source else None
        return [self._scored(source, number, target, pair, shared) for target, pair in found.items()]

    def source_factor(self, source: Words) -> float:
        """By what p(e|f) of the model shrinks for this f: c(f) / (c(f) + d(f))."""
        return _share(self.static.source_count(self.static.source(source)), self.dynamic.now(self.dynamic.sources[source]))

    def target_factor(self, target: Words) -> float:
        """By what p(f|e) of the model shrinks for this e: c(e) / (c(e) + d(e)); 1 where no segment has e."""
        count = self.dynamic.targets.get(target)
        return 1.0 if count is None else _share(self.static.target_count(target), self.dynamic.now(count))

    def _scored(
        self, source: Words, number: int, target: Words, pair: DynamicPair, shared: np.ndarray | None
    ) -> PairScores:
        static, dynamic = self.static, self.dynamic
        original = static.pair(number, target)
        before = static.probabilities(original)
        joint = dynamic.now(pair.count)
        c_f, d_f = static.source_count(number), dynamic.now(dynamic.sources[source])
        c_e, d_e = static.target_count(target), dynamic.now(dynamic.targets[target])
        ln_scores = static.usual_scores.copy()
        if original != ABSENT:
            ln_scores[:] = static.phrases.ln_scores[original]
        else:
            ln_scores[[LEX_SOURCE, LEX_TARGET]] = self._ln_lexical(source, target, pair)
        ln_scores[TARGET_GIVEN_SOURCE] = _ln((c_f * before[TARGET_GIVEN_SOURCE] + joint) / (c_f + d_f))
        ln_scores[SOURCE_GIVEN_TARGET] = _ln((c_e * before[SOURCE_GIVEN_TARGET] + joint) / (c_e + d_e))
        known = int(static.phrases.joint_counts[original]) if original != ABSENT else 0
        counts = tuple(max(1, round(count)) for count in (known + joint, c_f + d_f, c_e + d_e))
        orientations = dynamic.orientations(pair) if shared is None else shared
        ln_reordering = self.ln_reordering(original, orientations, shared is not None)
        return PairScores(source, target, pair.points, original, ln_scores, ln_reordering, counts)

    @property
    def _is_by_source(self) -> bool:
        return self.description.reordering is not None and self.description.reordering.condition == "f"

    def _source_orientations(self, number: int, source: Words) -> np.ndarray:
        """float64[8] counts of orientations of all pairs of a source phrase, the model's included."""
        total = np.zeros(N_COUNTS)
        if number != ABSENT:
            first, last = self.static.phrases.pair_offsets[number : number + 2].tolist()
            total += self.static.model.reordering_counts[first:last].sum(axis=0)
        for pair in self.dynamic.pairs[source].values():
            total += self.dynamic.orientations(pair)
        return total

    def ln_reordering(self, original: int, counts: np.ndarray, is_total: bool) -> np.ndarray:
        """float32[C] reordering scores with `counts` (float64[8]) beside the model's, which a total includes.

        Those of a pair of a table without counts stay as they are; learned scores of new pairs are 0.
        """
        ln_scores = np.zeros(self.tables.ln_reordering.shape[1], np.float32)
        if not ln_scores.size:
            return ln_scores
        known = np.zeros(N_COUNTS)
        if original != ABSENT:
            ln_scores[:] = self.tables.ln_reordering[original]
            known += self.static.model.reordering_counts[original]
            if not known.any():
                return ln_scores
        fill_orientations(self.tables.orientations, counts if is_total else counts + known, ln_scores)
        return ln_scores

    def _ln_lexical(self, source: Words, target: Words, pair: DynamicPair) -> tuple[float, float]:
        """ln lex(f|e) and ln lex(e|f) of a new pair (Koehn et al. 2003), by the links of model and segments."""
        counts, source_counts, target_counts = self._link_counts(source, target)
        links = np.zeros(counts.shape, bool)
        for s, t in pair.points:
            links[s, t] = True
        of_source = _ln_weight(counts / np.maximum(target_counts[None, :], 1e-9), links)
        of_target = _ln_weight((counts / np.maximum(source_counts[:, None], 1e-9)).T, links.T)
        return of_source, of_target

    def _link_counts(self, source: Words, target: Words) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts of the links of all words of a pair (float64[n, m]) and of the words of its sides."""
        known, dynamic = self.static.words, self.dynamic
        f, e = np.array(source, np.int32), np.array(target, np.int32)
        counts = known.link_counts(f, e)
        for i, s in enumerate(source):
            for j, t in enumerate(target):
                counts[i, j] += dynamic.now(dynamic.links.get((s, t)))
        source_counts = counts_of(known.source_counts, f)
        target_counts = counts_of(known.target_counts, e)
        source_counts = source_counts + [dynamic.now(dynamic.source_links.get(word)) for word in source]
        target_counts = target_counts + [dynamic.now(dynamic.target_links.get(word)) for word in target]
        return counts, source_counts, target_counts


def _ln_weight(probabilities: np.ndarray, links: np.ndarray) -> float:
    """The sum over rows of ln of the mean of their linked probabilities (float64[n, m], bool[n, m])."""
    n_links = links.sum(axis=1)
    sums = np.where(links, np.maximum(probabilities, UNSEEN), 0.0).sum(axis=1)
    return float(np.log(np.where(n_links > 0, sums / np.maximum(n_links, 1), UNLINKED)).sum())


def _share(known: float, new: float) -> float:
    return known / (known + new) if known + new > 0 else 1.0


def _ln(probability: float) -> np.float32:
    return np.float32(floored_ln(np.array([min(probability, 1.0)]))[0])


def fill_orientations(model: Orientations, counts: np.ndarray, ln_scores: np.ndarray) -> None:
    """Write the estimated columns of `ln_scores` (float32[C]) by `counts` (float64[8]), smoothed as in training."""
    for direction, columns in enumerate(model.columns):
        chosen = columns[columns != ABSENT]
        if not chosen.size:
            continue
        width = int(chosen.max() - chosen.min()) + 1
        sums = np.bincount(chosen - chosen.min(), counts[N_ORIENTATIONS * direction :][:N_ORIENTATIONS], width)
        first = int(chosen.min())
        ln_scores[first : first + width] = floored_ln((sums + SMOOTHING) / (sums.sum() + SMOOTHING * width))
