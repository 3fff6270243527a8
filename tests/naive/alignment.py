"""Symmetrization of word alignments over sets of links, and the division of long sentence pairs into pieces."""

import itertools


def grow_diag_final_and(forward, backward):
    """The set of links that grow-diag-final-and makes of two sets of links (source, target) (Koehn et al. 2003)."""
    links = forward & backward
    candidates = sorted((forward | backward) - links)
    growing = True
    while growing:
        growing = False
        for point in candidates:
            if point not in links and _touches(links, *point) and not (_row(links, point) and _column(links, point)):
                links.add(point)
                growing = True
    for points in (forward, backward):
        for point in sorted(points):
            if not _row(links, point) and not _column(links, point):
                links.add(point)
    return links


def _touches(links, i, j):
    """Whether one of the eight neighbours of the point (i, j) is linked."""
    return any((i + di, j + dj) in links for di, dj in itertools.product((-1, 0, 1), repeat=2))


def _row(links, point):
    """Whether the source word of `point` is linked."""
    return any(i == point[0] for i, _ in links)


def _column(links, point):
    """Whether the target word of `point` is linked."""
    return any(j == point[1] for _, j in links)


def pieces(source, target, limit):
    """A sentence pair (lists of words) cut into the least number of pairs with at most `limit` words on either side."""
    n = 1
    while max(len(source), len(target)) > n * limit:
        n += 1
    cut = [[words[len(words) * k // n : len(words) * (k + 1) // n] for k in range(n)] for words in (source, target)]
    return list(zip(*cut))
