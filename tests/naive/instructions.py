"""What terms, walls and zones of an Input allow, and all derivations under them."""

import math

import numpy as np

from tests.naive.search import orders


def obeys(sentence, distortion_limit, covered, begin, end):
    """Whether walls and zones of an Input allow the uncovered words begin:end next; covered: list of bools."""
    n_words, gap = len(covered), covered.index(False)
    reach = distortion_limit if distortion_limit >= 0 else 64
    for wall in sentence.walls:
        around = [zone for zone in sentence.zones if zone[0] < wall < zone[1]]
        first, last = min(around, key=lambda zone: zone[1] - zone[0], default=(0, n_words))
        if begin < last and first < end and wall < end and not all(covered[first : min(wall, begin)]):
            return False
    for first, last in sentence.zones:
        free = [i for i in range(first, last) if not covered[i]]
        inside = [i for i in free if begin <= i < end]
        if 0 < len(free) < last - first and not inside:
            return False
        if inside and begin != gap and last - gap > reach:
            return False
        if inside and end > last and inside != free:
            return False
    return True


def options(table, sentence, longest, oov, begin, end):
    """The options of a span: (target words, ln translation scores, ln reordering scores or None, is it unknown)."""
    source = " ".join(sentence.words[begin:end])
    touching = {(term.begin, term.end) for term in sentence.terms if term.begin < end and begin < term.end}
    pairs = []
    for target, scores, orientations in table.get(source, []) if end - begin <= longest else []:
        if sentence.policy == "exclusive" and touching:
            continue
        if sentence.policy == "constraint" and not all(
            _has_term(target, sentence, span, begin, end) for span in touching
        ):
            continue
        pairs.append((target.split(), scores, orientations, False))
    for term in sentence.terms:
        if (term.begin, term.end) == (begin, end):
            ln = max(math.log(term.probability), -100) if term.probability else -100
            pairs.append((list(term.target), np.full(4, ln / 4), _reordering_scores(table, source, term.target), False))
    if not pairs and end == begin + 1:
        is_dropped = oov == "drop" and not any(letter.isdigit() for letter in source)
        target = [] if is_dropped else [source]
        pairs.append((target, None, _reordering_scores(table, source, target), True))
    return pairs


def _has_term(target, sentence, span, begin, end):
    """Whether begin:end holds the `span` of terms, and the text `target` one of their translations if they have any."""
    texts = [" ".join(term.target) for term in sentence.terms if (term.begin, term.end) == span]
    return begin <= span[0] and span[1] <= end and any(not text or f" {text} " in f" {target} " for text in texts)


def _reordering_scores(table, source, target):
    """The reordering scores of the phrase pair in the table, None if it lacks the pair."""
    return next((orientations for text, _, orientations in table.get(source, []) if text == " ".join(target)), None)


def derivations(table, sentence, longest, distortion_limit, oov):
    """Yield all derivations of an Input, as `derivations` of search.py."""
    longest_span = max([longest, *(term.end - term.begin for term in sentence.terms)])

    def fits(covered, begin, end):
        return obeys(sentence, distortion_limit, covered, begin, end)

    def choose(spans):
        if not spans:
            yield []
            return
        for option in options(table, sentence, longest, oov, *spans[0]):
            for rest in choose(spans[1:]):
                yield [(spans[0], option), *rest]

    for spans in orders(len(sentence.words), longest_span, distortion_limit, fits):
        yield from choose(spans)
