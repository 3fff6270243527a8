"""Word classes of Brown et al. (1992) by definition: the mutual information of the whole text for every merger."""

import math
from collections import Counter
from itertools import combinations


def cluster(sentences, n_classes, min_count, times=1):
    """Merges (pairs of classes, named by their most frequent words) in order, and {word: bit string of its class}.

    Words enter a window of `n_classes` classes from frequent to rare; those outside of it count as None. The text is
    counted `times` times.
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
    """Merge the two classes whose merger leaves most information; changes `name`, {word: class}."""
    classes = [word for word in words if name.get(word) == word]
    # Of several, the first in the order of words.
    first, second = max(combinations(classes, 2), key=lambda pair: information(sentences, merged(name, *pair), times))
    name.update(merged(name, first, second))
    return first, second


def merged(name, first, second):
    """`name` with the class `second` merged into `first`."""
    return {word: first if class_name == second else class_name for word, class_name in name.items()}


def information(sentences, name, times):
    """Mutual information of neighbouring classes, times their number, but for a constant; in 2**-20 bits."""
    pairs, singles = Counter(), Counter()
    for sentence in sentences:
        classes = [name.get(word) for word in sentence]
        pairs.update(zip([None, *classes], [*classes, None]))
        singles.update(class_name for class_name in classes if class_name is not None)
    return sum(n_log_n(times * n) for n in pairs.values()) - 2 * sum(n_log_n(times * n) for n in singles.values())


def n_log_n(n):
    """n * log2(n) in 2**-20, rounded."""
    return math.floor((1 << 20) * n * math.log2(n) + 0.5)
