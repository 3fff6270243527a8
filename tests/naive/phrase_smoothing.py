"""Smoothed probabilities of phrase pairs (Foster, Kuhn and Johnson 2006, section 3), with dicts of counts.

All functions take the counts {(source phrase, target phrase): count} of a corpus.
"""

from collections import Counter
from math import log


def kneser_ney_discounts(counts):
    """D(1), D(2), D(3 and more) by the counts of counts, as of n-grams; 0.5, 1, 1.5 where they give none."""
    n = Counter(counts.values())
    if not (n[1] and n[2] and n[3]):
        return [0.5, 1.0, 1.5]
    y = n[1] / (n[1] + 2 * n[2])
    found = [1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
    return found if all(0 <= d <= k for k, d in enumerate(found, 1)) else [0.5, 1.0, 1.5]


def kneser_ney(counts, whole):
    """{pair: (ln p(f|e), ln p(e|f))} of `counts`, with the discounts and the number of pairs of the corpus `whole`."""
    discount = kneser_ney_discounts(whole)
    table = {}
    for (f, e), count in counts.items():
        of_e = {pair: c for pair, c in counts.items() if pair[1] == e}
        of_f = {pair: c for pair, c in counts.items() if pair[0] == f}
        row = []
        for same, other in ((of_e, of_f), (of_f, of_e)):
            total = sum(same.values())
            left = sum(discount[min(c, 3) - 1] for c in same.values()) / total
            row.append(log((count - discount[min(count, 3) - 1]) / total + left * len(other) / len(whole)))
        table[f, e] = tuple(row)
    return table


def good_turing(counts, whole):
    """{pair: (ln p(f|e), ln p(e|f))}: counts up to 9 times Moses' factor of `score --GoodTuring`, of the totals."""
    n, table = Counter(whole.values()), {}
    for (f, e), count in counts.items():
        factor = (count + 1) / count * (n[count + 1] + 0.1) / (n[count] + 0.1) if count < 10 else 1.0
        adjusted = count * min(factor, 1.0)
        of_e = sum(c for pair, c in counts.items() if pair[1] == e)
        of_f = sum(c for pair, c in counts.items() if pair[0] == f)
        table[f, e] = (log(adjusted / of_e), log(adjusted / of_f))
    return table


SMOOTHED = {"kneser-ney": kneser_ney, "good-turing": good_turing}
