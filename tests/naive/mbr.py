"""Minimum Bayes risk the obvious way: BLEU of every text against every other, by counters of n-grams."""

import math
from collections import Counter


def sentence_bleu(hypothesis, reference):
    """Moses' mbr.cpp: one more match and n-gram for n > 1, 0 without a common word."""
    precisions = []
    for n in range(1, 5):
        own, other = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (hypothesis, reference)
        )
        matches, total = sum((own & other).values()), sum(own.values())
        if n == 1 and matches == 0:
            return 0.0
        precisions.append((matches + (n > 1)) / (total + (n > 1)))
    brevity = min(0.0, 1 - len(reference) / len(hypothesis))
    return math.exp(sum(map(math.log, precisions)) / 4 + brevity)


def expected_bleu(texts, scores, scale):
    """What each text can expect; a text is itself to be expected whole, even if it is empty."""
    weights = [math.exp(scale * (score - max(scores))) for score in scores]
    return [
        sum(
            weight * (1.0 if i == j else sentence_bleu(text, other))
            for j, (other, weight) in enumerate(zip(texts, weights))
        )
        / sum(weights)
        for i, text in enumerate(texts)
    ]
