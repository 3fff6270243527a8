"""Translations that begin with given words, by enumeration."""

import numpy as np

from tests.naive.search import options, orders

LONGEST_SEGMENT, LN_FALLBACK = 3, -5.0


def begins(text, prefix, is_partial):
    """Whether the words `text` begin with `prefix`, its last word being whole or only the beginning of one."""
    if len(text) < len(prefix):
        return False
    last = len(prefix) - 1
    return all(w.startswith(p) if is_partial and i == last else w == p for i, (w, p) in enumerate(zip(text, prefix)))


def made_up(prefix):
    """What any one source word may become, as options: the prefix piece by piece, or all the rest of it."""
    size = len(prefix)
    pieces = {tuple(prefix[i:j]) for i in range(size) for j in range(i + 1, size + 1) if j == size or j <= i + 3}
    return [(list(piece), np.full(4, LN_FALLBACK), None, len(piece)) for piece in pieces]


def completions(table, words, longest, distortion_limit, prefix, is_partial=False):
    """All derivations whose text begins with the prefix; those with made-up words only if there are no others."""
    for extra in ([], made_up(prefix)):
        found = [
            derivation
            for spans in orders(len(words), longest, distortion_limit)
            for derivation in _choose(table, words, spans, extra, prefix, is_partial, [])
        ]
        if found:
            break
    return found


def _choose(table, words, spans, extra, prefix, is_partial, text):
    head = min(len(text), len(prefix))
    if not begins(text[:head], prefix[:head], is_partial and head == len(prefix)):
        return
    if not spans:
        if len(text) >= len(prefix):
            yield []
        return
    begin, end = spans[0]
    for option in options(table, words, begin, end) + (extra if end == begin + 1 else []):
        for rest in _choose(table, words, spans[1:], extra, prefix, is_partial, text + option[0]):
            yield [(spans[0], option), *rest]


def best_rest(prefix, phrases):
    """For each position of the prefix the best sum of penalties of phrases (words, penalty) that produce the rest."""
    rest = [0.0]
    for i in reversed(range(len(prefix))):
        fit = [
            penalty + rest[max(0, len(prefix) - i - len(words))]
            for words, penalty in phrases
            if words and all(a == b for a, b in zip(words, prefix[i:]))
        ]
        rest.append(max(fit, default=-np.inf))
    return rest[::-1]
