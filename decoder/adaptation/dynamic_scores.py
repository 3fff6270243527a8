"""Scores of phrase pairs by the counts of the model and of confirmed segments together.

p(e|f) = (c(f) p'(e|f) + d(f, e)) / (c(f) + d(f)), where p' and c are of the model's table and d of confirmed segments,
and likewise p(f|e): relative frequencies of the sums where p' are such, and as good for smoothed and imported ones.
"""

from collections.abc import Sequence
from heapq import nlargest
from math import exp, log
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.dynamic_counts import N_COUNTS, DynamicCounts, DynamicPair
from phrasebeam.decoder.adaptation.segment import Points, Words
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS, SMOOTHING
from phrasebeam.decoder.tables.phrase_table import ABSENT, LEAST_LN, SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE

LEX_SOURCE, LEX_TARGET = 1, 3  # columns of ln lex(f|e) and ln lex(e|f)
UNLINKED = 0.05  # p(word | no word)
UNSEEN = 1e-4  # p(word | word) at least, of words that are linked
TINY = 1e-9
MOST_PAIRS = 20  # of a source phrase, as many as the table limit leaves by default


class PairScores(NamedTuple):
    """A phrase pair with the counts of confirmed segments."""

    source: Words
    target: Words
    points: Points
    original: int  # number in the model's table, or ABSENT
    ln_scores: list[float]  # K of them
    ln_reordering: list[float]  # C of them
    counts: tuple[int, int, int]  # c(f, e), c(f), c(e)


class DynamicScores:
    """Scores of the phrase pairs of confirmed segments, at their present counts."""

    def __init__(self, static: StaticCounts, dynamic: DynamicCounts):
        self.static, self.dynamic = static, dynamic
        self.description, self.tables = static.model.description, static.model.tables
        self._columns = [columns.tolist() for columns in self.tables.orientations.columns]

    def pairs(self, source: Words) -> list[PairScores]:
        """The pairs of a source phrase that confirmed segments have, at most MOST_PAIRS, the most frequent first."""
        number = self.static.source(source)
        found = self.dynamic.pairs.get(source, {}).items()
        best = nlargest(MOST_PAIRS, found, key=lambda item: self.dynamic.now(item[1].count))
        shared = self._source_orientations(number, source) if self._is_by_source else None
        return [self._scored(source, number, target, pair, shared) for target, pair in best]

    def source_factor(self, source: Words) -> float:
        """The factor by which p(e|f) of the model shrinks: c(f) / (c(f) + d(f))."""
        count = self.dynamic.sources.get(source)
        return _share(self.static.source_count(self.static.source(source)), self.dynamic.now(count))

    def target_factor(self, target: Words) -> float:
        """The factor by which p(f|e) of the model shrinks: c(e) / (c(e) + d(e)); 1 where no segment has e."""
        count = self.dynamic.targets.get(target)
        return 1.0 if count is None else _share(self.static.target_count(target), self.dynamic.now(count))

    def _scored(
        self, source: Words, number: int, target: Words, pair: DynamicPair, shared: list[float] | None
    ) -> PairScores:
        static, dynamic = self.static, self.dynamic
        original, joint, known = static.pair(number, target), dynamic.now(pair.count), 0
        c_f, d_f = static.source_count(number), dynamic.now(dynamic.sources.get(source))
        c_e, d_e = static.target_count(target), dynamic.now(dynamic.targets.get(target))
        before_f = before_e = 0.0
        if original != ABSENT:
            ln_scores, known = static.phrases.scores_of(original).tolist(), int(static.phrases.joint_counts[original])
            before_f, before_e = (exp(ln_scores[column]) for column in (SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE))
        else:
            ln_scores = list(static.usual_scores)
            ln_scores[LEX_SOURCE], ln_scores[LEX_TARGET] = self._ln_lexical(source, target, pair)
        ln_scores[TARGET_GIVEN_SOURCE] = _ln((c_f * before_e + joint) / (c_f + d_f))
        ln_scores[SOURCE_GIVEN_TARGET] = _ln((c_e * before_f + joint) / (c_e + d_e))
        counts = max(1, round(known + joint)), max(1, round(c_f + d_f)), max(1, round(c_e + d_e))
        orientations = dynamic.orientations(pair).tolist() if shared is None else shared
        ln_reordering = self.ln_reordering(original, orientations, shared is not None)
        return PairScores(source, target, pair.points, original, ln_scores, ln_reordering, counts)

    @property
    def _is_by_source(self) -> bool:
        return self.description.reordering is not None and self.description.reordering.condition == "f"

    def _source_orientations(self, number: int, source: Words) -> list[float]:
        """Counts of the 8 orientations of all pairs of a source phrase, the model's included."""
        total = np.zeros(N_COUNTS)
        if number != ABSENT:
            first, last = self.static.phrases.pair_offsets[number : number + 2].tolist()
            total += self.static.model.reordering_counts[first:last].sum(axis=0)
        for pair in self.dynamic.pairs.get(source, {}).values():
            total += self.dynamic.orientations(pair)
        return [float(count) for count in total]

    def ln_reordering(self, original: int, counts: Sequence[float], is_total: bool) -> list[float]:
        """The C reordering scores with 8 `counts` beside the model's, which a total includes.

        Those of a pair of a table without counts stay as they are; learned scores of new pairs are 0.
        """
        ln_scores = [0.0] * self.tables.ln_reordering.shape[1]
        if not ln_scores:
            return ln_scores
        if original != ABSENT:
            ln_scores = self.tables.ln_reordering[original].tolist()
            known = self.static.model.reordering_counts[original].tolist()
            if not any(known):
                return ln_scores
            if not is_total:
                counts = [one + other for one, other in zip(counts, known)]
        for direction, columns in enumerate(self._columns):
            fill_orientations(columns, counts[N_ORIENTATIONS * direction :][:N_ORIENTATIONS], ln_scores)
        return ln_scores

    def _ln_lexical(self, source: Words, target: Words, pair: DynamicPair) -> tuple[float, float]:
        """ln lex(f|e) and ln lex(e|f) of a new pair (Koehn et al. 2003), by the links of model and segments."""
        dynamic, static = self.dynamic, self.static
        of_source = [static.source_links(word) + dynamic.now(dynamic.source_links.get(word)) for word in source]
        of_target = [static.target_links(word) + dynamic.now(dynamic.target_links.get(word)) for word in target]
        sources: list[list[float]] = [[] for _ in source]  # p(f|e) of the links of each source word
        targets: list[list[float]] = [[] for _ in target]
        for s, t in pair.points:
            link = source[s], target[t]
            count = static.links(*link) + dynamic.now(dynamic.links.get(link))
            sources[s].append(count / max(of_target[t], TINY))
            targets[t].append(count / max(of_source[s], TINY))
        return sum(map(_ln_mean, sources)), sum(map(_ln_mean, targets))


def _ln_mean(probabilities: Sequence[float]) -> float:
    """ln of the mean of the probabilities of a word's links, or of UNLINKED."""
    if not probabilities:
        return log(UNLINKED)
    return log(sum(max(one, UNSEEN) for one in probabilities) / len(probabilities))


def _share(known: float, new: float) -> float:
    return known / (known + new) if known + new > 0 else 1.0


def _ln(probability: float) -> float:
    return max(log(min(probability, 1.0)), LEAST_LN) if probability > 0 else LEAST_LN


def fill_orientations(columns: Sequence[int], counts: Sequence[float], ln_scores: list[float]) -> None:
    """Write the estimated scores of one direction by the counts of M S DL DR, smoothed as in training.

    `columns`: of each of these in `ln_scores`, or ABSENT.
    """
    sums = dict[int, float]()
    for column, count in zip(columns, counts):
        if column != ABSENT:
            sums[column] = sums.get(column, 0.0) + count
    total = sum(sums.values()) + SMOOTHING * len(sums)
    for column, count in sums.items():
        ln_scores[column] = _ln((count + SMOOTHING) / total)
