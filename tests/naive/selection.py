"""Feature decay by its formulas: every sentence is scored anew before each choice."""

import math
from collections import Counter


def ngrams(words, order):
    """All n-grams of up to `order` words, in the order of their first words and then of their lengths."""
    n = len(words)
    return [tuple(words[begin:end]) for begin in range(n) for end in range(begin + 1, min(begin + order, n) + 1)]


def in_domain(sentences, domain, order):
    """The n-grams of each sentence that are in the sentences `domain`, too."""
    known = {ngram for words in domain for ngram in ngrams(words, order)}
    return [[ngram for ngram in ngrams(words, order) if ngram in known] for words in sentences]


def select(sentences, domain, config, most_sentences, most_words):
    """[(index, score)] of the sentences selected, the best first; empty ones are none of them."""
    features = in_domain(sentences, domain, config.order)
    occurrences = Counter(ngram for found in features for ngram in found)
    n_all = sum(map(len, sentences))
    counts, selected, n_words = Counter(), [], 0

    def weight(ngram):
        idf = math.log(n_all / occurrences[ngram])
        initial = math.pow(idf, config.idf_exponent) * math.pow(len(ngram), config.ngram_length_exponent)
        count = counts[ngram]
        return initial * (math.pow(config.decay_factor, count) / math.pow(1 + count, config.decay_exponent))

    def score(index):
        # Not sum(), which rounds once where additions one by one round each time.
        total = 0.0
        for ngram in features[index]:
            total += weight(ngram)
        return total / math.pow(len(sentences[index]), config.sentence_length_exponent)

    left = [index for index, words in enumerate(sentences) if words]
    while left and len(selected) < most_sentences and n_words < most_words:
        best = max(left, key=lambda index: (score(index), -index))
        selected.append((best, score(best)))
        left.remove(best)
        n_words += len(sentences[best])
        counts.update(features[best])
    return selected


def coverage(sentences, domain, order):
    """The share of the distinct n-grams of `domain` that occur in `sentences`, for each length that `domain` has."""
    known = {ngram for words in domain for ngram in ngrams(words, order)}
    found = known.intersection(ngram for words in sentences for ngram in ngrams(words, order))
    totals, covered = (Counter(map(len, group)) for group in (known, found))
    return [covered[n] / totals[n] for n in sorted(totals)]
