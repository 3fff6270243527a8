"""What terms, walls and zones of an Input allow, said once more in words of its own, and all derivations under them."""

import math

import numpy as np

from tests.naive.search import orders


def obeys(given, distortion_limit, covered, begin, end):
    """Whether the free words begin:end may be translated next, where `covered` (a list of bools) are translated."""
    n_words, gap = len(covered), covered.index(False)
    reach = distortion_limit if distortion_limit >= 0 else 64
    for wall in given.walls:
        around = [zone for zone in given.zones if zone[0] < wall < zone[1]]
        first, last = min(around, key=lambda zone: zone[1] - zone[0], default=(0, n_words))
        if begin < last and first < end and wall < end and not all(covered[first : min(wall, begin)]):
            return False
    for first, last in given.zones:
        free = [i for i in range(first, last) if not covered[i]]
        inside = [i for i in free if begin <= i < end]
        if 0 < len(free) < last - first and not inside:
            return False
        if inside and begin != gap and last - gap > reach:
            return False
        if inside and end > last and inside != free:
            return False
    return True


def options(table, given, longest, oov, begin, end):
    """The pairs of a span as (target words, ln translation scores, ln reordering scores or None, is it unknown)."""
    source = " ".join(given.words[begin:end])
    touching = {(term.begin, term.end) for term in given.terms if term.begin < end and begin < term.end}
    found = []
    for target, scores, orientations in table.get(source, []) if end - begin <= longest else []:
        if given.policy == "exclusive" and touching:
            continue
        if given.policy == "constraint" and not all(_keeps(target, given, span, begin, end) for span in touching):
            continue
        found.append((target.split(), scores, orientations, False))
    for term in given.terms:
        if (term.begin, term.end) == (begin, end):
            ln = max(math.log(term.probability), -100) if term.probability else -100
            found.append((list(term.target), np.full(4, ln / 4), _twin(table, source, term.target), False))
    if not found and end == begin + 1:
        is_dropped = oov == "drop" and not any(letter.isdigit() for letter in source)
        target = [] if is_dropped else [source]
        found.append((target, None, _twin(table, source, target), True))
    return found


def _keeps(target, given, span, begin, end):
    ways = [term.target for term in given.terms if (term.begin, term.end) == span]
    return begin <= span[0] and span[1] <= end and any(not way or f" {' '.join(way)} " in f" {target} " for way in ways)


def _twin(table, source, target):
    return next((orientations for text, _, orientations in table.get(source, []) if text == " ".join(target)), None)


def derivations(table, given, longest, distortion_limit, oov):
    """All derivations of an Input, as those of naive.search."""
    longest_span = max([longest, *(term.end - term.begin for term in given.terms)])

    def fits(covered, begin, end):
        return obeys(given, distortion_limit, covered, begin, end)

    def choose(spans):
        if not spans:
            yield []
            return
        for option in options(table, given, longest, oov, *spans[0]):
            for rest in choose(spans[1:]):
                yield [(spans[0], option), *rest]

    for spans in orders(len(given.words), longest_span, distortion_limit, fits):
        yield from choose(spans)
