"""chrF and chrF++ of two texts with Counters of n-grams, and what each text of a list can expect."""

import math
import string
from collections import Counter

SIGNS = set(string.punctuation)


def grams(text, word_orders):
    """Counters of the n-grams of a text: of 1 to 6 characters without white space, then of words."""
    characters = "".join(text.split())
    counted = [Counter(characters[i : i + n] for i in range(len(characters) - n + 1)) for n in range(1, 7)]
    words = [part for word in text.split() for part in parts(word)]
    return counted + [
        Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for n in range(1, word_orders + 1)
    ]


def parts(word):
    """A word without the sign at its end, or else at its beginning, and that sign."""
    if len(word) > 1 and word[-1] in SIGNS:
        return [word[:-1], word[-1]]
    return [word[0], word[1:]] if len(word) > 1 and word[0] in SIGNS else [word]


def statistics(text, reference, word_orders=2):
    """The n-grams of the text, where the reference has some, those of the reference, and matches, by order."""
    found = []
    for ours, theirs in zip(grams(text, word_orders), grams(reference, word_orders)):
        found += [sum(ours.values()) if theirs else 0, sum(theirs.values()), sum((ours & theirs).values())]
    return found


def chrf(found):
    """The score of statistics, in [0, 1]."""
    orders = [found[i : i + 3] for i in range(0, len(found), 3) if found[i] and found[i + 1]]
    precision, recall = sum(m / h for h, _, m in orders), sum(m / r for _, r, m in orders)
    return 5 * precision * recall / (4 * precision + recall) / len(orders) if precision + recall else 0.0


def softmax(scores, scale):
    """Probabilities proportional to exp(scale * score)."""
    weights = [math.exp(scale * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def expected_chrf(texts, scores, scale):
    """Expected chrF++ of each text under softmax(scale * scores) of all."""
    shares = softmax(scores, scale)
    return [sum(share * chrf(statistics(text, other)) for other, share in zip(texts, shares)) for text in texts]


def rough_chrf(texts, scores, scale):
    """chrF++ of each text for a reference with the expected counts of n-grams under softmax(scale * scores)."""
    counted, reference = [grams(text, 2) for text in texts], [Counter() for _ in range(8)]
    for counts, share in zip(counted, softmax(scores, scale)):
        for sums, one in zip(reference, counts):
            for gram, times in one.items():
                sums[gram] += times * share
    gains = []
    for counts in counted:
        found = []
        for ours, theirs in zip(counts, reference):
            matches = sum(min(times, theirs[gram]) for gram, times in ours.items())
            found += [sum(ours.values()), sum(theirs.values()), matches]
        gains.append(chrf(found))
    return gains
