"""Phrase pairs, their orientations and their scores by definition, from all pairs of spans, with sets and dicts.

A sentence pair is (source words, target words, set of (source, target) links); a span pair is (first source,
last source, first target, last target).
"""

from collections import Counter, defaultdict
from math import log

MONOTONE, SWAP, LEFT, RIGHT = range(4)


def consistent(links, spans):
    """Whether no link leaves the span pair and at least one lies in it."""
    first, last, begin, end = spans
    inside = [(first <= s <= last, begin <= t <= end) for s, t in links]
    return any(s and t for s, t in inside) and all(s == t for s, t in inside)


def consistent_spans(n_source, n_target, links):
    """All span pairs of any length that are consistent with the links."""
    return [
        (first, last, begin, end)
        for begin in range(n_target)
        for end in range(begin, n_target)
        for first in range(n_source)
        for last in range(first, n_source)
        if consistent(links, (first, last, begin, end))
    ]


def extract(n_source, n_target, links, max_length):
    """The consistent span pairs of at most `max_length` words on either side."""
    return [
        (first, last, begin, end)
        for first, last, begin, end in consistent_spans(n_source, n_target, links)
        if last - first < max_length and end - begin < max_length
    ]


def linked(n_source, n_target, links, s, t):
    """Whether words are linked; the positions before the first words are linked, and those after the last words."""
    return (s, t) in links | {(-1, -1), (n_source, n_target)}


def word_orientation(sizes, links, near, far, row):
    """The orientation by the links of the target word `row`.

    near: source positions next to the phrase on its monotone and its other side; far: those beyond them.
    """
    here, there = (linked(*sizes, links, s, row) for s in near)
    if here != there:
        return MONOTONE if here else SWAP
    if not here and any((s, row) in links for s in far[1]) and not any((s, row) in links for s in far[0]):
        return LEFT
    return RIGHT


def block_orientation(sizes, links, near, far, row, corners):
    """The orientation by blocks that end at the target word `row`; near, far: as for `word_orientation`.

    corners: source positions at which blocks end on the monotone side, and at which they begin on the other side.
    """
    here, there = (linked(*sizes, links, s, row) for s in near)
    if (here and not there) or near[0] in corners[0]:
        return MONOTONE
    if (there and not here) or near[1] in corners[1]:
        return SWAP
    if any(s in corners[0] for s in far[0]):
        return RIGHT
    if any(s in corners[1] for s in far[1]):
        return LEFT
    return RIGHT


def orientations(kind, n_source, n_target, links, spans, max_length):
    """Orientations of a span pair to the phrase before and to the phrase after it; kind: word, phrase or hier."""
    first, last, begin, end = spans
    if kind == "hier":
        blocks = consistent_spans(n_source, n_target, links)
    else:
        blocks = extract(n_source, n_target, links, max_length)
    pair = []
    for row, forward in ((begin - 1, False), (end + 1, True)):
        near = (first - 1, last + 1)
        right_end = n_source if kind == "word" else n_source - 1
        far = (range(first - 1), range(last + 2, right_end))
        corners = ({b[1] for b in blocks if b[3] == row}, {b[0] for b in blocks if b[3] == row})
        if forward:
            near, far, corners = near[::-1], far[::-1], corners[::-1]
        if kind == "word":
            pair.append(word_orientation((n_source, n_target), links, near, far, row))
        else:
            pair.append(block_orientation((n_source, n_target), links, near, far, row, corners))
    return tuple(pair)


def lexical(bitext):
    """{(source word, target word): probability} for p(target | source) and p(source | target), from counts of links.

    None is NULL, to which unlinked words are linked.
    """
    joint = Counter()
    for source, target, links in bitext:
        joint.update((source[s], target[t]) for s, t in links)
        joint.update((word, None) for s, word in enumerate(source) if not any(a == s for a, b in links))
        joint.update((None, word) for t, word in enumerate(target) if not any(b == t for a, b in links))
    of_source, of_target = Counter(), Counter()
    for (s, t), count in joint.items():
        of_source[s] += count
        of_target[t] += count
    return (
        {(s, t): count / of_source[s] for (s, t), count in joint.items()},
        {(s, t): count / of_target[t] for (s, t), count in joint.items()},
    )


def ln_lexical_weight(source, target, rows, probs):
    """ln of the lexical weight of target words given source words; rows[t]: source positions linked to position t."""
    total = 0.0
    for t, row in enumerate(rows):
        linked_to = [source[s] for s in row] or [None]
        total += log(sum(probs[word, target[t]] for word in linked_to) / len(linked_to))
    return total


def most_frequent(alignments):
    """The most frequent of alignments, each a list of sorted lists; of several, the greatest."""
    counts = Counter(tuple(tuple(row) for row in rows) for rows in alignments)
    return max(counts, key=lambda rows: (counts[rows], rows))


def phrase_table(bitext, max_length, kind):
    """{(source words, target words): (c(e), c(f), c(f,e), alignment, ln scores, orientation counts)}."""
    target_prob, source_prob = lexical(bitext)
    inverse_prob = {(t, s): prob for (s, t), prob in source_prob.items()}
    by_target, by_source = defaultdict(list), defaultdict(list)
    orientation_counts = defaultdict(lambda: [0] * 8)
    for source, target, links in bitext:
        for spans in extract(len(source), len(target), links, max_length):
            first, last, begin, end = spans
            pair = (tuple(source[first : last + 1]), tuple(target[begin : end + 1]))
            by_target[pair].append(
                [[s - first for s in range(first, last + 1) if (s, t) in links] for t in range(begin, end + 1)]
            )
            by_source[pair].append(
                [[t - begin for t in range(begin, end + 1) if (s, t) in links] for s in range(first, last + 1)]
            )
            before, after = orientations(kind, len(source), len(target), links, spans, max_length)
            orientation_counts[pair][before] += 1
            orientation_counts[pair][4 + after] += 1
    source_counts, target_counts = Counter(), Counter()
    for (f, e), seen in by_target.items():
        source_counts[f] += len(seen)
        target_counts[e] += len(seen)
    table = {}
    for (f, e), seen in by_target.items():
        rows, columns = most_frequent(seen), most_frequent(by_source[f, e])
        ln_scores = (
            log(len(seen) / target_counts[e]),
            ln_lexical_weight(e, f, columns, inverse_prob),
            log(len(seen) / source_counts[f]),
            ln_lexical_weight(f, e, rows, target_prob),
        )
        points = [(s, t) for t, row in enumerate(rows) for s in row]
        counts = (target_counts[e], source_counts[f], len(seen))
        table[f, e] = (counts, points, ln_scores, orientation_counts[f, e])
    return table
