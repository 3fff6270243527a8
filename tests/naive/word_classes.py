"""Brown clusters the obvious way: the mutual information of the whole text anew for every pair that could be merged."""

import math
from collections import Counter
from itertools import combinations


def cluster(sentences, n_classes, min_count, times=1):
    """Merges (pairs of most frequent words) in their order, and {word: bit string}.

    Words are merged within a window, from frequent to rare; what is not in it is None to its neighbours. All the text
    occurs `times` times.
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= min_count]
    name, merges = {}, []
    for word in words:
        name[word] = word
        if len(set(name.values())) > n_classes:
            merges.append(merge_best(sentences, name, words, times))
    classes, bits = dict(name), {}
    while len(set(name.values())) > 1:
        merges.append(merge_best(sentences, name, words, times))
    tree = merges[len(words) - n_classes :]
    bits[tree[-1][0]] = ""
    for first, second in reversed(tree):
        bits[first], bits[second] = bits[first] + "0", bits[first] + "1"
    return merges, {word: bits[classes[word]] for word in words}


def merge_best(sentences, name, words, times):
    classes = [word for word in words if name.get(word) == word]
    # The first of the best: in the order of words.
    first, second = max(combinations(classes, 2), key=lambda pair: information(sentences, merged(name, *pair), times))
    name.update(merged(name, first, second))
    return first, second


def merged(name, first, second):
    return {word: first if of == second else of for word, of in name.items()}


def information(sentences, name, times):
    """Average mutual information of neighbours, times the number of words but for a constant, in 2**-20 bits."""
    pairs, ones = Counter(), Counter()
    for sentence in sentences:
        classes = [name.get(word) for word in sentence]
        pairs.update(zip([None, *classes], [*classes, None]))
        ones.update(of for of in classes if of is not None)
    return sum(n_log_n(times * n) for n in pairs.values()) - 2 * sum(n_log_n(times * n) for n in ones.values())


def n_log_n(n):
    return math.floor((1 << 20) * n * math.log2(n) + 0.5)
