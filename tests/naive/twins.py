"""Twins of a bitext with dictionaries, lists and recursion."""

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise


def common_words(first, second):
    """Length of the longest common subsequence of two lists."""

    @cache
    def longest(i, j):
        if i == len(first) or j == len(second):
            return 0
        if first[i] == second[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


def bigrams(side, sentence):
    """All of a sentence, with its ends."""
    words = [None, *sentence, None]
    return [(side, *two) for two in pairwise(words)]


def is_like(first, second, share):
    """Whether two sentences have a share of their words in common."""
    return 2 * common_words(tuple(first), tuple(second)) >= share * (len(first) + len(second))


def find_twins(pairs, share, most_occurrences, n_compared):
    """For each pair (source, target) the one that it repeats, or -1; and whether an earlier one is equal."""
    of_pair = [bigrams("source", source) + bigrams("target", target) for source, target in pairs]
    counts = Counter(bigram for found in of_pair for bigram in found)
    places, equal, first, is_equal = defaultdict(list), {}, [], []
    for number, (source, target) in enumerate(pairs):
        key, rare = (tuple(source), tuple(target)), [b for b in of_pair[number] if 2 <= counts[b] <= most_occurrences]
        is_equal.append(key in equal)
        if not source or not target:
            first.append(-1)
            is_equal[-1] = False
            continue
        if key in equal:
            first.append(equal[key] if first[equal[key]] < 0 else first[equal[key]])
            continue
        equal[key] = number
        votes = Counter(other for bigram in rare for other in places[bigram])
        best = sorted(votes, key=lambda other: (-votes[other], other))[:n_compared]
        like = (other for other in best if all(is_like(a, b, share) for a, b in zip(pairs[number], pairs[other])))
        first.append(next(like, -1))
        if first[-1] < 0:
            for bigram in rare:
                places[bigram].append(number)
    return first, is_equal
