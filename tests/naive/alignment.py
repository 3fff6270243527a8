"""Word alignment the obvious way: points as sets, pieces as lists of words."""

import itertools


def grow_diag_final_and(forward, backward):
    """Koehn et al. (2003); forward and backward are sets of (source, target)."""
    found = forward & backward
    candidates = sorted((forward | backward) - found)
    growing = True
    while growing:
        growing = False
        for point in candidates:
            if point not in found and _touches(found, *point) and not (_row(found, point) and _column(found, point)):
                found.add(point)
                growing = True
    for points in (forward, backward):
        for point in sorted(points):
            if not _row(found, point) and not _column(found, point):
                found.add(point)
    return found


def _touches(found, i, j):
    return any((i + di, j + dj) in found for di, dj in itertools.product((-1, 0, 1), repeat=2))


def _row(found, point):
    return any(i == point[0] for i, _ in found)


def _column(found, point):
    return any(j == point[1] for _, j in found)


def pieces(source, target, limit):
    """Pairs of word lists, in as few pieces as leave at most `limit` words a side."""
    n = 1
    while max(len(source), len(target)) > n * limit:
        n += 1
    cut = [[words[len(words) * k // n : len(words) * (k + 1) // n] for k in range(n)] for words in (source, target)]
    return list(zip(*cut))
