"""Decoding by enumeration: every segmentation in every order that the distortion limit allows, and its features."""

import math
from functools import cache

import numpy as np

from tests.naive import ngrams

LN10 = math.log(10)


def difference(previous_end, begin):
    """Length of a jump in a text."""
    return abs(begin - previous_end)


def orders(n, longest, distortion_limit, fits=lambda covered, begin, end: True, jump=difference):
    """All ways to cover words 0:n by phrases of at most `longest` words: lists of half-open spans in target order.

    A phrase begins at most distortion_limit words from the end of the one before (negative: anywhere), and either
    begins at the first gap or ends within that distance of it. Spans that `fits` refuses are left out. `jump` is the
    distance of two positions.
    """

    def extend(spans):
        covered = cover(n, spans)
        if all(covered):
            yield list(spans)
            return
        for begin, end in next_spans(n, longest, distortion_limit, spans, jump):
            if fits(covered, begin, end):
                yield from extend([*spans, (begin, end)])

    yield from extend([])


def cover(n, spans):
    """Whether the spans cover each of n words."""
    return [any(begin <= i < end for begin, end in spans) for i in range(n)]


def next_spans(n, longest, distortion_limit, spans, jump=difference):
    """The spans that may follow `spans`, which leave some of n words; see orders."""
    covered, previous_end = cover(n, spans), spans[-1][1] if spans else 0
    gap = covered.index(False)
    for begin in range(n):
        for end in range(begin + 1, min(begin + longest, n) + 1):
            near = jump(previous_end, begin) <= distortion_limit
            returns = begin == gap or jump(gap, end) <= distortion_limit
            if not any(covered[begin:end]) and (distortion_limit < 0 or (near and returns)):
                yield begin, end


def best_of_bins(table, words, longest, distortion_limit, score, remaining):
    """Scores of the best of each bin, which alone is extended (Yu et al. 2013, equation 2 with b = 1), or None.

    score: of a partial derivation; remaining: what is added to it for comparison, of the words that are covered. None
    where two are nearly as good as each other.
    """
    bins = [[]]
    for n_covered in range(1, len(words) + 1):
        found = []
        for derivation in filter(lambda one: one is not None, bins):
            spans = [span for span, _ in derivation]
            for span in next_spans(len(words), longest, distortion_limit, spans):
                if sum(cover(len(words), [*spans, span])) == n_covered:
                    found += [[*derivation, (span, option)] for option in options(table, words, *span)]
        compared = [score(one) + remaining(cover(len(words), [span for span, _ in one])) for one in found]
        ranked = sorted(zip(compared, range(len(found))), reverse=True)
        if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < 1e-3:
            return None
        bins.append(found[ranked[0][1]] if found else None)
    return [None if derivation is None else score(derivation) for derivation in bins]


def orientation(previous, span):
    """Orientation of a span to the previous one: 0 monotone, 1 swap, 2 discontinuous left, 3 discontinuous right."""
    if span[0] == previous[1]:
        return 0
    if span[1] == previous[0]:
        return 1
    return 3 if span[0] > previous[1] else 2


@cache
def joined(spans):
    """The span that `spans` (a tuple) fill if joining two adjacent ones at a time leaves one; otherwise None."""
    if len(spans) == 1:
        return spans[0]
    for i in range(1, len(spans)):
        first, second = joined(spans[:i]), joined(spans[i:])
        if first and second and (first[1] == second[0] or second[1] == first[0]):
            return min(first[0], second[0]), max(first[1], second[1])
    return None


def block_before(spans):
    """The longest block that the last spans can be joined to; (-1, 0), the sentence start, if there are none."""
    return next((block for i in range(len(spans)) if (block := joined(tuple(spans[i:])))), (-1, 0))


def orientation_of_next(spans, span):
    """Hierarchical orientation of `span` as the phrase after spans[-1], 0 to 3; gaps next to that will be filled."""
    covered = {word for begin, end in spans for word in range(begin, end)}
    begin, end = spans[-1]
    if span[0] >= end:
        return 0 if span[0] == end or end not in covered else 3
    return 1 if span[1] == begin or begin - 1 not in covered else 2


def orientations(model, spans, span):
    """Orientations (0 to 3) of `span` to the phrases before it, and as the phrase after spans[-1] (None: no such)."""
    if model.orientation == "hier":
        return orientation(block_before(spans), span), orientation_of_next(spans, span) if spans else None
    to_previous = orientation(spans[-1] if spans else (-1, 0), span)
    return to_previous, to_previous


# Of each kind of reordering model, the class of the orientations 0 to 3.
KINDS = {"msd": "MSDD", "mslr": "MSLR", "monotonicity": "MNNN", "leftright": "RLLR"}


def reordering_features(model, derivation):
    """Feature values of a lexicalized reordering model (a Reordering) for a derivation, backward ones first."""
    names = "".join(dict.fromkeys(KINDS[model.kind]))
    directions = {"bidirectional": ["backward", "forward"]}.get(model.direction, [model.direction])
    values, spans = np.zeros((len(directions), len(names))), []
    default = model.ln_default or [0.0] * values.size
    for i, (span, option) in enumerate(derivation):
        for direction, orientation_id in zip(("backward", "forward"), orientations(model, spans, span)):
            scored = option if direction == "backward" else derivation[i - 1][1]
            if direction in directions and (i > 0 or direction == "backward"):
                column = directions.index(direction), names.index(KINDS[model.kind][orientation_id])
                scores = default if scored[2] is None else scored[2]
                values[column] += np.reshape(scores, values.shape)[column]
        spans.append(span)
    return values.sum(axis=1) if model.collapse else values.ravel()


def early_distortion(spans, span):
    """Early distortion cost of `span` after `spans`: the four cases of Moore and Quirk (2007)."""
    covered = {word for begin, end in spans for word in range(begin, end)}
    gap = next(word for word in range(span[1]) if word not in covered)
    previous_end, length = spans[-1][1] if spans else 0, span[1] - span[0]
    if span[0] == gap:
        return 0
    if span[1] < previous_end:
        return -2 * length
    if previous_end <= gap:
        return -2 * (span[0] - gap + length)
    return -2 * (span[0] - previous_end + length)


def options(table, words, begin, end):
    """The options of a span: (target words, ln translation scores, ln reordering scores or None, is a copy).

    table: {source text: [(target text, ln translation scores, ln reordering scores)]}.
    """
    pairs = [(t.split(), s, r, False) for t, s, r in table.get(" ".join(words[begin:end]), [])]
    if not pairs and end == begin + 1:
        return [([words[begin]], None, None, True)]
    return pairs


def features(derivation, n_translation, reordering, lm, order, early=False, is_complete=True, jump=difference):
    """The dense feature vector of a derivation, a list of (span, option).

    reordering: a Reordering or None; lm: {n-gram: (log10 p, log10 backoff)}, of order `order`; early: whether early
    distortion is a feature; is_complete: whether </s> is scored; jump: the distance of two positions.
    """
    translation, spans = np.zeros(n_translation), []
    distortion = unknown = early_cost = 0.0
    words = ["<s>"]
    for span, (target, scores, _, is_copy) in derivation:
        distortion -= jump(spans[-1][1] if spans else 0, span[0])
        early_cost += early_distortion(spans, span)
        unknown -= 100.0 * is_copy
        if scores is not None:
            translation += scores
        words += target
        spans.append(span)
    words += ["</s>"] * is_complete
    ln_lm = LN10 * sum(
        float(ngrams.score(lm, words[max(0, i - order + 1) : i], words[i])[0]) for i in range(1, len(words))
    )
    lexical = reordering_features(reordering, derivation) if reordering else []
    scalars = [ln_lm, distortion, -(len(words) - 1.0 - is_complete), float(len(derivation)), unknown]
    return np.concatenate([translation, lexical, scalars, [early_cost] * early])


def derivations(table, words, longest, distortion_limit):
    """Yield all derivations of a sentence, lists of (span, option)."""

    def choose(spans):
        if not spans:
            yield []
            return
        for option in options(table, words, *spans[0]):
            for rest in choose(spans[1:]):
                yield [(spans[0], option), *rest]

    for spans in orders(len(words), longest, distortion_limit):
        yield from choose(spans)


def best_options(table, words, begin, end, weights, lm, order, limit):
    """(score without language model, estimate with it) of a span's `limit` options of best estimate; limit 0: all."""
    ranked = []
    n_translation = len(weights) - 5
    for target, scores, _, is_copy in options(table, words, begin, end):
        score = weights[-2] - weights[-3] * len(target) - 100.0 * weights[-1] * is_copy
        if scores is not None:
            score += float(np.dot(weights[: len(scores)], scores))
        inside = [ngrams.score(lm, target[max(0, i - order + 1) : i], target[i])[0] for i in range(len(target))]
        ranked.append((score, score + weights[n_translation] * LN10 * float(np.sum(inside))))
    ranked.sort(key=lambda pair: -pair[1])
    return ranked[: limit or None]


def future_cost(estimates, covered):
    """Greatest sum of `estimates`, {(begin, end): estimate}, over all segmentations of the uncovered words."""

    def best(begin, end):
        if begin == end:
            return 0.0
        return max(
            (estimates[begin, k] + best(k, end) for k in range(begin + 1, end + 1) if (begin, k) in estimates),
            default=-math.inf,
        )

    total, begin = 0.0, 0
    while begin < len(covered):
        end = begin
        while end < len(covered) and not covered[end]:
            end += 1
        total += best(begin, end)
        begin = end + 1
    return total
