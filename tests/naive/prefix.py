"""Translations that begin with a prefix of target words, by enumeration of derivations."""

import numpy as np

from tests.naive.search import options, orders

LONGEST_SEGMENT, LN_FALLBACK = 3, -5.0


def begins(text, prefix, is_partial):
    """Whether the words of `text` begin with those of `prefix`, whose last may be partial, the beginning of a word."""
    if len(text) < len(prefix):
        return False
    last = len(prefix) - 1
    return all(w.startswith(p) if is_partial and i == last else w == p for i, (w, p) in enumerate(zip(text, prefix)))


def fallback_options(prefix):
    """Options of any source word if the table cannot produce the prefix: its pieces of up to 3 words, and suffixes."""
    size = len(prefix)
    pieces = {
        tuple(prefix[i:j]) for i in range(size) for j in range(i + 1, size + 1) if j == size or j <= i + LONGEST_SEGMENT
    }
    return [(list(piece), np.full(4, LN_FALLBACK), None, len(piece)) for piece in pieces]


def completions(table, words, longest, distortion_limit, prefix, is_partial=False):
    """All derivations whose text begins with the prefix; with fallback options only if there are no others."""
    for fallback in ([], fallback_options(prefix)):
        complete = [
            derivation
            for spans in orders(len(words), longest, distortion_limit)
            for derivation in _choose(table, words, spans, fallback, prefix, is_partial, [])
        ]
        if complete:
            break
    return complete


def _choose(table, words, spans, fallback, prefix, is_partial, text):
    """Yield the derivations of `spans` after the words `text` that begin with the prefix."""
    head = min(len(text), len(prefix))
    if not begins(text[:head], prefix[:head], is_partial and head == len(prefix)):
        return
    if not spans:
        if len(text) >= len(prefix):
            yield []
        return
    begin, end = spans[0]
    for option in options(table, words, begin, end) + (fallback if end == begin + 1 else []):
        for rest in _choose(table, words, spans[1:], fallback, prefix, is_partial, text + option[0]):
            yield [(spans[0], option), *rest]


def best_rest(prefix, phrases):
    """Greatest sum of penalties of phrases (words, penalty) that produce the prefix from each of its positions on."""
    rest = [0.0]
    for i in reversed(range(len(prefix))):
        fit = [
            penalty + rest[max(0, len(prefix) - i - len(words))]
            for words, penalty in phrases
            if words and all(a == b for a, b in zip(words, prefix[i:]))
        ]
        rest.append(max(fit, default=-np.inf))
    return rest[::-1]
