"""Naive twins of adaptation: counts in dictionaries, n-grams by counting, alignment paths by trying all."""

import math
from itertools import product


def brute_force_path(ln_emission, ln_null, ln_jump, ln_of_null):
    """The best ln p of all ways to emit each word by a position or by none; positions stay where none emits."""
    n, m = len(ln_emission), len(ln_emission[0])
    best = -math.inf
    for states in product(range(2 * n), repeat=m):
        score, before = 0.0, -1
        for j, state in enumerate(states):
            position, is_null = state % n, state >= n
            if is_null:
                if position != max(before, 0) or (before < 0 and position != 0):
                    score = -math.inf
                    break
                score += ln_of_null + ln_null[j]
                before = position
            else:
                score += ln_jump * abs(position - before - 1) + ln_emission[position][j]
                before = position
        best = max(best, score)
    return best


def path_score(path, ln_emission, ln_null, ln_jump, ln_of_null):
    """ln p of a path, in which -1 stands for words that nothing emits."""
    score, before = 0.0, -1
    for j, position in enumerate(path):
        if position < 0:
            score += ln_of_null + ln_null[j]
            before = max(before, 0)
        else:
            score += ln_jump * abs(position - before - 1) + ln_emission[position][j]
            before = position
    return score


def consistent_pairs(source, target, points, longest_source, longest_target):
    """All phrase pairs (source words, target words) that no link leaves, each as often as it occurs."""
    found = []
    for i in range(len(source)):
        for k in range(i + 1, min(i + longest_source, len(source)) + 1):
            for j in range(len(target)):
                for q in range(j + 1, min(j + longest_target, len(target)) + 1):
                    inside = [(s, t) for s, t in points if i <= s < k and j <= t < q]
                    leaves = [(s, t) for s, t in points if (i <= s < k) != (j <= t < q)]
                    if inside and not leaves:
                        found.append((tuple(source[i:k]), tuple(target[j:q])))
    return found


def faded(times, now, decay):
    """What occurrences at `times` are worth now."""
    return sum(decay ** (now - time) for time in times)


def witten_bell(segments, decay, order):
    """{n-gram: p(last word | others)} of segments with <s> and </s>, counts fading; unseen unigrams have the rest."""
    counts = {}
    for age, words in enumerate(reversed(segments)):
        text = ["<s>", *words, "</s>"]
        for n in range(1, order + 1):
            for end in range(1, len(text)):
                if end - n + 1 >= 0:
                    ngram = tuple(text[end - n + 1 : end + 1])
                    counts[ngram] = counts.get(ngram, 0.0) + decay**age
    found = {}
    for ngram in sorted(counts, key=len):
        same = [other for other in counts if len(other) == len(ngram) and other[:-1] == ngram[:-1]]
        total = sum(counts[other] for other in same)
        found[ngram] = (counts[ngram] + len(same) * found.get(ngram[1:], 0.0)) / (total + len(same))
    return found


def consistent_occurrences(source, target, points, longest_source, longest_target):
    """consistent_pairs with the points inside each, relative to its first words."""
    for f, e in consistent_pairs(range(len(source)), range(len(target)), points, longest_source, longest_target):
        inside = [(s - f[0], t - e[0]) for s, t in points if s in f and t in e]
        yield tuple(source[i] for i in f), tuple(target[j] for j in e), inside


def ln_lexical(words, others, points, links, totals):
    """ln lex(words | others): for each word the mean of p(word | other) of its links, 0.05 without any, multiplied.

    `links` and `totals`: counts of (word, other) and of other.
    """
    total = 0.0
    for i, word in enumerate(words):
        found = [max(links[word, others[j]] / max(totals[others[j]], 1e-9), 1e-4) for k, j in points if k == i]
        total += math.log(sum(found) / len(found) if found else 0.05)
    return total


def adapted_probability(count, probability, joint, new):
    """ln of the relative frequency of a pair in model and segments together, by the count of what is given in both."""
    return max(math.log((count * probability + joint) / (count + new)), -100.0)
