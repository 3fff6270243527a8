"""Naive twins of what stands in place of unknown words: a look at each word, and all ways to split a compound."""

import math


def related(word, vocabulary):
    """Other words with the same beginning, those that share most letters first."""
    found = []
    for other in vocabulary:
        one, two = word.lower(), other.lower()
        shared = 0
        while one[: shared + 1] == two[: shared + 1] and shared < min(len(one), len(two)):
            shared += 1
        ends = [text for text in (one[shared:], two[shared:]) if text]
        is_long = shared >= 4 and shared >= 0.6 * max(len(one), len(two))
        if other != word and is_long and all(len(end) <= 3 and end.isalpha() for end in ends):
            found.append((-shared, len(two), two, other))
    return [other for _, _, _, other in sorted(found)]


def splits(word, count, last_part, fillers, is_first=True):
    """All (product of the counts, parts) of a word."""
    if not is_first and len(word) >= 4 and (last := last_part(word)):
        yield last[1], (last[0],)
    for end in range(4, len(word)):
        for filler in fillers:
            if word[:end].endswith(filler) and (n := count(word[: end - len(filler)])) and end - len(filler) >= 4:
                for product, parts in splits(word[end:], count, last_part, fillers, False):
                    yield n * product, (word[: end - len(filler)], *parts)


def best_mean(word, count, last_part, fillers, most):
    """The largest geometric mean of counts, in ln; None where the word cannot be split."""
    means = [
        math.log(product) / len(parts)
        for product, parts in splits(word, count, last_part, fillers)
        if 2 <= len(parts) <= most
    ]
    return max(means, default=None)
