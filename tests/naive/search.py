"""Decoding the obvious way: every segmentation in every order that the distortion limit allows, scored word by word."""

import math
from functools import cache

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


@cache
def joined(spans):
    """The span that `spans` fill, if two neighbours at a time can be joined until one is left; otherwise None."""
    if len(spans) == 1:
        return spans[0]
    for i in range(1, len(spans)):
        one, other = joined(spans[:i]), joined(spans[i:])
        if one and other and (one[1] == other[0] or other[1] == one[0]):
            return min(one[0], other[0]), max(one[1], other[1])
    return None


def block_before(spans):
    """The longest block that the last of `spans` can be joined to; the sentence start before the first."""
    return next((block for i in range(len(spans)) if (block := joined(tuple(spans[i:])))), (-1, 0))


def orientation_of_next(spans, span):
    """Hierarchical orientation of `span` as what follows spans[-1]: a gap beside that will be filled joins them."""
    covered = {word for begin, end in spans for word in range(begin, end)}
    begin, end = spans[-1]
    if span[0] >= end:
        return 0 if span[0] == end or end not in covered else 3
    return 1 if span[1] == begin or begin - 1 not in covered else 2


def orientations(model, spans, span):
    """Of `span` to what stands before it, and as what follows spans[-1]."""
    if model.orientation == "hier":
        return orientation(block_before(spans), span), orientation_of_next(spans, span) if spans else None
    which = orientation(spans[-1] if spans else (-1, 0), span)
    return which, which


KINDS = {"msd": "MSDD", "mslr": "MSLR", "monotonicity": "MNNN", "leftright": "RLLR"}


def reordering_features(model, derivation):
    """The values of a lexicalized reordering model, backward ones first."""
    names = "".join(dict.fromkeys(KINDS[model.kind]))
    directions = {"bidirectional": ["backward", "forward"]}.get(model.direction, [model.direction])
    values, spans = np.zeros((len(directions), len(names))), []
    default = model.ln_default or [0.0] * values.size
    for i, (span, option) in enumerate(derivation):
        for direction, which in zip(("backward", "forward"), orientations(model, spans, span)):
            scored = option if direction == "backward" else derivation[i - 1][1]
            if direction in directions and (i > 0 or direction == "backward"):
                place = directions.index(direction), names.index(KINDS[model.kind][which])
                scores = default if scored[2] is None else scored[2]
                values[place] += np.reshape(scores, values.shape)[place]
        spans.append(span)
    return values.sum(axis=1) if model.collapse else values.ravel()


def early_distortion(spans, span):
    """Moore & Quirk's four cases, for `span` after `spans`."""
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
    """The pairs of a span as (target words, ln translation scores, ln reordering scores or None, is a copy)."""
    found = [(t.split(), s, r, False) for t, s, r in table.get(" ".join(words[begin:end]), [])]
    if not found and end == begin + 1:
        return [([words[begin]], None, None, True)]
    return found


def features(derivation, n_translation, reordering, lm, order, early=False, is_complete=True):
    """The feature vector of a derivation, a list of (span, option); `reordering` is a Reordering or None.

    </s> follows if it `is_complete`.
    """
    translation, spans = np.zeros(n_translation), []
    distortion = unknown = early_cost = 0.0
    words = ["<s>"]
    for span, (target, scores, _, is_copy) in derivation:
        distortion -= abs(span[0] - (spans[-1][1] if spans else 0))
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
