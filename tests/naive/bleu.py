"""BLEU (Papineni et al. 2002) from Counters of n-grams, clipped at the largest count in any one reference."""

import math
from collections import Counter


def ngrams(words, n):
    """Counter of the n-grams (tuples) of a list of words."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def statistics(text, references, length="closest"):
    """[length, reference length, matches of n = 1 .. 4, n-grams of n = 1 .. 4] of a text and its reference texts.

    length: how the reference length is chosen: closest (the shorter of two), shortest or average.
    """
    words, word_lists = text.split(), [reference.split() for reference in references]
    matches, totals = [], []
    for n in range(1, 5):
        limit = Counter()
        for reference in word_lists:
            limit |= ngrams(reference, n)
        matches.append(sum((ngrams(words, n) & limit).values()))
        totals.append(sum(ngrams(words, n).values()))
    lengths = [len(reference) for reference in word_lists]
    reference_length = {
        "closest": min(lengths, key=lambda size: (abs(size - len(words)), size)),
        "shortest": min(lengths),
        "average": sum(lengths) / len(lengths),
    }
    return [len(words), reference_length[length], *matches, *totals]


def smoothed(row):
    """Sentence BLEU of `statistics`, with one more match and one more n-gram for n > 1; 0 without a common word."""
    length, reference, matches, totals = row[0], row[1], row[2:6], row[6:10]
    if matches[0] == 0:
        return 0.0
    product = matches[0] / totals[0]
    for n in range(1, 4):
        product *= (matches[n] + 1) / (totals[n] + 1)
    return product**0.25 * math.exp(min(0.0, 1 - reference / length))


def nakov(row):
    """Sentence BLEU of `statistics`, with one more match and n-gram for all n, and a reference one word longer."""
    length, reference, matches, totals = row[0], row[1], row[2:6], row[6:10]
    if length == 0:
        return 0.0
    product = math.prod((matched + 1) / (total + 1) for matched, total in zip(matches, totals))
    return product**0.25 * min(1.0, math.exp(1 - (reference + 1) / length))


def liang(row):
    """Sum of BLEU with n-grams of up to 1, 2, 3, 4 words, times 1/16, 1/8, 1/4, 1/2."""
    length, reference, matches, totals = row[0], row[1], row[2:6], row[6:10]
    result = 0.0
    for i in range(1, 5):
        if all(matches[:i]):
            product = math.prod(matched / total for matched, total in zip(matches[:i], totals))
            result += product ** (1 / i) * min(1.0, math.exp(1 - reference / length)) / 2 ** (4 - i + 1)
    return result


def corpus(sums):
    """BLEU of summed statistics with sacrebleu's smoothing: orders without a match count 1/2, 1/4, ... of a match."""
    length, reference, matches, totals = sums[0], sums[1], sums[2:6], sums[6:10]
    if sum(matches) == 0 or min(totals) <= 0:
        return 0.0
    logs, share = [], 1.0
    for matched, total in zip(matches, totals):
        if matched == 0:
            share /= 2
        logs.append(math.log((matched or share) / total))
    return math.exp(sum(logs) / 4 + min(0.0, 1 - reference / length))
