"""Scores of phrase pairs by the counts of the model and of confirmed segments together.

p(e|f) = (c(f) p'(e|f) + d(f, e)) / (c(f) + d(f)), where p' and c are from the model's table and d from confirmed
segments, and likewise p(f|e). These are the relative frequencies of the summed counts if p' are relative frequencies;
the formula is also suitable for smoothed and imported p'.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.adaptation.dynamic_counts import ANY_WORD, N_COUNTS, CountRules, CountTables, link_count
from phrasebeam.decoder.adaptation.fading_table import faded
from phrasebeam.decoder.adaptation.static_counts import (
    StaticArrays,
    static_links,
    static_pair,
    static_source_count,
    static_target_count,
)
from phrasebeam.decoder.extraction.occurrences import source_length, target_length
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS, SMOOTHING
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    LEAST_LN,
    SOURCE_GIVEN_TARGET,
    TARGET_GIVEN_SOURCE,
    ln_score,
)
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

LEX_SOURCE, LEX_TARGET = np.int64(1), np.int64(3)  # columns of ln lex(f|e) and ln lex(e|f)
UNLINKED = 0.05  # p(word | no word)
UNSEEN = 1e-4  # least p(word | word) of linked words
TINY = 1e-9
ZERO = np.int64(0)


class Confirmed(NamedTuple):
    """All counts of confirmed segments at one moment."""

    tables: CountTables
    bitext: AlignedBitext
    rules: CountRules
    time: int  # number of counted segments


class PairScores(NamedTuple):
    """P phrase pairs with the counts of confirmed segments; `place` has the last occurrence of each in a row."""

    original: np.ndarray  # int64[P], number in the model's table, or ABSENT
    ln_scores: np.ndarray  # float32[P, K]
    ln_reordering: np.ndarray  # float32[P, C]
    counts: np.ndarray  # int32[P, 3], c(f, e), c(f), c(e)
    orientations: np.ndarray  # float64[P, 8], counts of M S DL DR backward, then forward, including those of the model


def new_pair_scores(static: StaticArrays, n: int) -> PairScores:
    return PairScores(
        np.full(n, ABSENT, np.int64),
        np.zeros((n, static.usual_scores.size), np.float32),
        np.zeros((n, static.ln_reordering.shape[1]), np.float32),
        np.zeros((n, 3), np.int32),
        np.zeros((n, N_COUNTS)),
    )


@kernel
def score_pairs(static: StaticArrays, confirmed: Confirmed, sources, source_of, pairs, scored: PairScores):
    """Fill `scored` for pairs (int64[P], numbers in DynamicCounts).

    `sources` (int64[E, 2]): the number of a source phrase in DynamicCounts and in the model's table, or ABSENT;
    `source_of` (int64[P]): the row of a pair's source phrase in `sources`.
    """
    for row in range(pairs.size):
        numbers = row, pairs[row], sources[source_of[row], 0], sources[source_of[row], 1]
        _score_pair(static, confirmed, numbers, scored)
        if scored.ln_reordering.shape[1] > 0:
            _count_orientations(static, confirmed, numbers, scored)
            _score_orientations(static, row, scored)


@inner_kernel
def _score_pair(static, confirmed, numbers, scored):
    row, pair, source, number = numbers
    tables, decay, time = confirmed.tables, confirmed.rules.decay, confirmed.time
    place, target = tables.entries.place[pair], np.int64(tables.entries.target[pair])
    begin = confirmed.bitext.target_offsets[place[0]] + place[2]
    original = static_pair(static, number, confirmed.bitext.target_tokens, begin, target_length(place))
    joint = faded(tables.pairs, pair, time, decay)
    d_f, d_e = faded(tables.sources, source, time, decay), faded(tables.targets, target, time, decay)
    c_f, c_e = static_source_count(static, number), static_target_count(static, tables.targets.keys[target])
    before_f, before_e, known = 0.0, 0.0, ZERO
    scores = scored.ln_scores[row]
    if original != ABSENT:
        for column in range(scores.size):
            scores[column] = ln_score(static.phrases, original, column)
        before_f, before_e = exp(scores[SOURCE_GIVEN_TARGET]), exp(scores[TARGET_GIVEN_SOURCE])
        known = np.int64(static.phrases.joint_counts[original])
    else:
        for column in range(scores.size):
            scores[column] = static.usual_scores[column]
        scores[LEX_SOURCE] = _ln_lexical_source(static, confirmed, place)
        scores[LEX_TARGET] = _ln_lexical_target(static, confirmed, place)
    scores[TARGET_GIVEN_SOURCE] = _ln((c_f * before_e + joint) / (c_f + d_f))
    scores[SOURCE_GIVEN_TARGET] = _ln((c_e * before_f + joint) / (c_e + d_e))
    scored.original[row] = original
    scored.counts[row, 0] = max(1, round(known + joint))
    scored.counts[row, 1] = max(1, round(c_f + d_f))
    scored.counts[row, 2] = max(1, round(c_e + d_e))


@inlined_kernel
def _ln(probability):
    return max(log(min(probability, 1.0)), LEAST_LN) if probability > 0 else LEAST_LN


@inner_kernel
def _ln_lexical_source(static, confirmed, place):
    """ln lex(f|e) of a new pair (Koehn et al. 2003) at its place, from the links of model and segments."""
    bitext, total = confirmed.bitext, 0.0
    targets = bitext.target_offsets[place[0]] + place[2]
    first, last = bitext.target_links[targets], bitext.target_links[targets + target_length(place)]
    for s in range(place[1], place[1] + source_length(place)):
        sum_of_word, n_links = 0.0, 0
        for k in range(first, last):
            if bitext.links[k, 0] == s:
                source, target = _words_of(bitext, place[0], k)
                links = _all_links(static, confirmed, ANY_WORD, target)
                sum_of_word += max(_all_links(static, confirmed, source, target) / max(links, TINY), UNSEEN)
                n_links += 1
        total += log(sum_of_word / n_links) if n_links else log(UNLINKED)
    return total


@inner_kernel
def _ln_lexical_target(static, confirmed, place):
    """ln lex(e|f) of a new pair at its place."""
    bitext, total = confirmed.bitext, 0.0
    begin = bitext.target_offsets[place[0]] + place[2]
    for token in range(begin, begin + target_length(place)):
        first, last = bitext.target_links[token], bitext.target_links[token + 1]
        sum_of_word = 0.0
        for k in range(first, last):
            source, target = _words_of(bitext, place[0], k)
            links = _all_links(static, confirmed, source, ANY_WORD)
            sum_of_word += max(_all_links(static, confirmed, source, target) / max(links, TINY), UNSEEN)
        total += log(sum_of_word / (last - first)) if last > first else log(UNLINKED)
    return total


@inlined_kernel
def _words_of(bitext, segment, link):
    """The source and the target word (int64) of a link of a segment."""
    source = bitext.source_tokens[bitext.source_offsets[segment] + bitext.links[link, 0]]
    return np.int64(source), np.int64(bitext.target_tokens[bitext.target_offsets[segment] + bitext.links[link, 1]])


@inner_kernel
def _all_links(static, confirmed, source, target):
    """How often two words (int64) are linked in model and segments; for ANY_WORD, all links of the other word."""
    new = link_count(confirmed.tables, source, target, confirmed.time, confirmed.rules.decay)
    if source == ANY_WORD:
        return new + (static.target_links[target] if target < static.target_links.size else 0.0)
    if target == ANY_WORD:
        return new + (static.source_links[source] if source < static.source_links.size else 0.0)
    return new + static_links(static, source, target)


@inner_kernel
def _count_orientations(static, confirmed, numbers, scored):
    """Count the orientations of a pair, or of its source phrase if its pairs share them; adds the model's counts."""
    row, pair, source, number = numbers
    tables, counts, time, decay = confirmed.tables, scored.orientations[row], confirmed.time, confirmed.rules.decay
    for kind in range(N_COUNTS):
        if static.is_by_source:
            fading = decay ** (time - np.int64(tables.sources.times[source]))
            counts[kind] = tables.source_orientations[source, kind] * fading
        else:
            fading = decay ** (time - np.int64(tables.pairs.times[pair]))
            counts[kind] = tables.entries.orientations[pair, kind] * fading
    first, last = scored.original[row], scored.original[row] + 1
    if static.is_by_source and number != ABSENT:
        first, last = static.phrases.pair_offsets[number], static.phrases.pair_offsets[number + 1]
    for known in range(max(first, ZERO), last):
        for kind in range(N_COUNTS):
            counts[kind] += static.reordering_counts[known, kind]


@inner_kernel
def _score_orientations(static, row, scored):
    """Compute the reordering scores of a pair, smoothed as in training; without counts in the table, they stay.

    Learned scores of new pairs are 0.
    """
    scores, original, has_counts = scored.ln_reordering[row], scored.original[row], True
    if original != ABSENT:
        has_counts = False
        for kind in range(N_COUNTS):
            has_counts |= static.reordering_counts[original, kind] > 0
        for column in range(scores.size):
            scores[column] = static.ln_reordering[original, column]
    for direction in range(2 if has_counts else 0):
        fill_orientations(static.orientation_columns[direction], scored.orientations[row], direction, scores)


@kernel
def fill_orientations(columns, counts, direction, scores):
    """Write the estimated scores of one direction from the counts (float64[8]) of M S DL DR in both directions.

    `columns` (int64[4]): the column of each orientation in `scores` (float32[C]), or ABSENT.
    """
    first, total, n_columns = direction * N_ORIENTATIONS, 0.0, 0
    for kind in range(N_ORIENTATIONS):
        if columns[kind] != ABSENT:
            total += counts[first + kind]
            n_columns += 1
            for other in range(kind):
                if columns[other] == columns[kind]:
                    n_columns -= 1
                    break
    for kind in range(N_ORIENTATIONS):
        of_column = 0.0
        for other in range(N_ORIENTATIONS):
            if columns[other] == columns[kind]:
                of_column += counts[first + other]
        if columns[kind] != ABSENT:
            scores[columns[kind]] = _ln((of_column + SMOOTHING) / (total + SMOOTHING * n_columns))
