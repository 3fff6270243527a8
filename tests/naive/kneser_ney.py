"""Interpolated modified Kneser-Ney models by the definitions of Chen and Goodman (1998), with dicts."""

import math
from collections import Counter, defaultdict


class NaiveModel:
    """A model of `sentences`, lists of words; probabilities by recursion over the order.

    N-grams of n words that occur thresholds[n - 1] times or less are pruned as by lmplz: their counts count where they
    are counted, and their probabilities are left to the lower order.
    """

    def __init__(self, sentences, order, thresholds=None):
        self.order, self.thresholds = order, thresholds or [0] * order
        self.words = ["<unk>", "<s>", "</s>"]
        raw = [Counter() for _ in range(order + 1)]
        for sentence in sentences:
            self.words += [word for word in dict.fromkeys(sentence) if word not in self.words]
            padded = ["<s>", *sentence, "</s>"]
            for n in range(1, order + 1):
                for i in range(len(padded) - n + 1):
                    raw[n][tuple(padded[i : i + n])] += 1
        self.raw = raw
        self.counts = [Counter() for _ in range(order + 1)]
        for n in range(1, order + 1):
            before = defaultdict(set)
            if n < order:
                for ngram in raw[n + 1]:
                    before[ngram[1:]].add(ngram[0])
            for ngram, count in raw[n].items():
                # N-grams that begin with <s> have no words before them.
                self.counts[n][ngram] = count if n == order or ngram[0] == "<s>" else len(before[ngram])
        # <s> is never predicted; <unk> was never seen.
        del self.counts[1]["<s>",]
        self.discounts = [None] + [discounts(self.counts[n].values()) for n in range(1, order + 1)]
        self.after = defaultdict(dict)
        for counts in self.counts:
            for ngram, count in counts.items():
                self.after[ngram[:-1]][ngram[-1]] = count

    def discount(self, n, count):
        """D(count) of order n."""
        return self.discounts[n][min(count, 3)]

    def is_pruned(self, ngram):
        """Whether the model leaves it out."""
        return self.raw[len(ngram)][ngram] <= self.thresholds[len(ngram) - 1]

    def backoff(self, context):
        """The probability that discounts leave to the lower order after `context`; 1 for an unseen context."""
        after = self.after.get(context)
        if not after:
            return 1.0
        left = 0.0
        for word, count in after.items():
            left += count if self.is_pruned((*context, word)) else self.discount(len(context) + 1, count)
        return left / sum(after.values())

    def prob(self, word, context):
        """p(word | context) of any words; `context` is a tuple shorter than the order."""
        if not context:
            lower = 1 / (len(self.words) - 1)
        else:
            lower = self.prob(word, context[1:])
        after = self.after.get(context, {})
        if not after:
            return lower
        count = 0 if self.is_pruned((*context, word)) else after.get(word, 0)
        discounted = (count - self.discount(len(context) + 1, count)) / sum(after.values()) if count else 0.0
        return discounted + self.backoff(context) * lower

    def ngrams(self, n):
        """The n-grams of the model: {words: (log10 p, log10 backoff)}."""
        listed = [ngram for ngram in self.counts[n] if not self.is_pruned(ngram)] + (
            [("<unk>",), ("<s>",)] if n == 1 else []
        )
        out = {}
        for ngram in listed:
            p = 1.0 if ngram == ("<s>",) else self.prob(ngram[-1], ngram[:-1])
            backoff = self.backoff(ngram) if n < self.order else 1.0
            out[ngram] = (min(0.0, math.log10(p)), math.log10(backoff) if backoff > 0 else -99.0)
        return out


def discounts(counts):
    """D(0), D(1), D(2), D(3+) of equation 26; 0, 0.5, 1, 1.5 if one of them is undefined or not from 0 to its count."""
    n = Counter(counts)
    fallback = [0.0, 0.5, 1.0, 1.5]
    if not (n[1] and n[2] and n[3]):
        return fallback
    y = n[1] / (n[1] + 2 * n[2])
    out = [0.0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
    return out if all(0 <= d <= k for k, d in enumerate(out)) else fallback


def backed_off_log10_prob(ngrams, word, context):
    """log10 p(word | context) from listed n-grams {words: (log10 p, log10 backoff)}, by backing off."""
    if (*context, word) in ngrams:
        return ngrams[*context, word][0]
    if not context:
        return ngrams["<unk>",][0]
    return ngrams.get(context, (0, 0.0))[1] + backed_off_log10_prob(ngrams, word, context[1:])
