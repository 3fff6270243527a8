"""Expected BLEU for minimum Bayes risk decoding: every text against every other, with Counters of n-grams."""

import math
from collections import Counter


def sentence_bleu(hypothesis, reference):
    """Sentence BLEU of two lists of words as in Moses' mbr.cpp: one more match and n-gram for n > 1; 0 without any."""
    precisions = []
    for n in range(1, 5):
        ngrams, reference_ngrams = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (hypothesis, reference)
        )
        matches, total = sum((ngrams & reference_ngrams).values()), sum(ngrams.values())
        if n == 1 and matches == 0:
            return 0.0
        precisions.append((matches + (n > 1)) / (total + (n > 1)))
    brevity = min(0.0, 1 - len(reference) / len(hypothesis))
    return math.exp(sum(map(math.log, precisions)) / 4 + brevity)


def expected_bleu(texts, scores, scale):
    """Expected BLEU of each text under softmax(scale * scores) of all; 1 against itself, even if it is empty."""
    weights = [math.exp(scale * (score - max(scores))) for score in scores]
    return [
        sum(
            weight * (1.0 if i == j else sentence_bleu(text, other))
            for j, (other, weight) in enumerate(zip(texts, weights))
        )
        / sum(weights)
        for i, text in enumerate(texts)
    ]
