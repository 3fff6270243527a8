"""Decoding the obvious way: every segmentation in every order that the distortion limit allows, scored word by word."""

import math

import numpy as np

from tests.naive import ngrams

LN10 = math.log(10)


def orders(n, longest, distortion_limit, fits=lambda covered, begin, end: True):
    """All ways to cover words 0:n by phrases of at most `longest` words: lists of half-open spans in target order.

    A phrase begins at most distortion_limit words from the end of the one before (negative: anywhere), and either
    begins at the first gap or ends within that distance of it. `fits` may refuse more.
    """

    def extend(covered, previous_end, spans):
        if all(covered):
            yield list(spans)
            return
        gap = covered.index(False)
        for begin in range(n):
            for end in range(begin + 1, min(begin + longest, n) + 1):
                if any(covered[begin:end]):
                    break
                near = abs(begin - previous_end) <= distortion_limit
                returns = begin == gap or end - gap <= distortion_limit
                if (distortion_limit < 0 or (near and returns)) and fits(covered, begin, end):
                    now = [c or begin <= i < end for i, c in enumerate(covered)]
                    yield from extend(now, end, [*spans, (begin, end)])

    yield from extend([False] * n, 0, [])


def orientation(previous, span):
    """Monotone, swap, discontinuous to the left, to the right: 0, 1, 2, 3."""
    if span[0] == previous[1]:
        return 0
    if span[1] == previous[0]:
        return 1
    return 3 if span[0] > previous[1] else 2


def options(table, words, begin, end):
    """The pairs of a span as (target words, ln translation scores, ln reordering scores or None, is a copy)."""
    found = [(t.split(), s, r, False) for t, s, r in table.get(" ".join(words[begin:end]), [])]
    if not found and end == begin + 1:
        return [([words[begin]], None, None, True)]
    return found


def features(derivation, n_translation, n_reordering, lm, order):
    """The feature vector of a derivation, a list of (span, option)."""
    translation, reordering = np.zeros(n_translation), np.zeros(n_reordering)
    distortion = unknown = 0.0
    previous, words = ((-1, 0), None), ["<s>"]
    for span, option in derivation:
        target, scores, orientations, is_copy = option
        which = min(orientation(previous[0], span), n_reordering // 2 - 1)
        distortion -= abs(span[0] - previous[0][1])
        unknown -= 100.0 * is_copy
        if scores is not None:
            translation += scores
        if n_reordering and orientations is not None:
            reordering[which] += orientations[which]
        if n_reordering and previous[1] is not None and previous[1][2] is not None:
            reordering[n_reordering // 2 + which] += previous[1][2][n_reordering // 2 + which]
        words += target
        previous = span, option
    words.append("</s>")
    ln_lm = LN10 * sum(
        float(ngrams.score(lm, words[max(0, i - order + 1) : i], words[i])[0]) for i in range(1, len(words))
    )
    scalars = [ln_lm, distortion, -(len(words) - 2.0), float(len(derivation)), unknown]
    return np.concatenate([translation, reordering, scalars])


def derivations(table, words, longest, distortion_limit):
    """All derivations of a sentence."""

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
    """(score, estimate) of the options of a span, best estimate first, cut to `limit` (0: all)."""
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
    """Best sum of estimates over all ways to cut the free spans; estimates[(begin, end)] of the best option."""

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
