"""Moses' phrase and reordering tables in text, read into dicts."""

import math


def phrase_table(text):
    """{(source words, target words): (ln scores, alignment points, (c(e), c(f), c(f, e)))}, in order of lines."""
    table = {}
    for line in text.split("\n")[:-1]:
        fields = [words(field) for field in line.split("|||")] + [[], []]
        points = [tuple(int(i) for i in point.split("-")) for point in fields[3]]
        counts = tuple([int(count) for count in fields[4]] + [0] * (3 - len(fields[4])))
        table[tuple(fields[0]), tuple(fields[1])] = ln(fields[2]), points, counts
    return table


def reordering_table(text, table, n_columns):
    """ln scores of each pair of a phrase table, in its order; `n_columns` zeros for a pair that the text lacks."""
    ln_scores = {}
    for line in text.split("\n")[:-1]:
        source, target, scores = (words(field) for field in line.split("|||"))
        ln_scores[tuple(source), tuple(target)] = ln(scores)
    return [ln_scores.get(pair, [0.0] * n_columns) for pair in table]


def fields(text):
    """Words of each field of each line."""
    return [[words(field) for field in line.split("|||")] for line in text.split("\n")[:-1]]


def words(field):
    """Words of a field, separated by spaces."""
    return [word for word in field.split(" ") if word]


def ln(probabilities):
    """ln of probabilities in text, at least -100."""
    return [max(math.log(p), -100.0) if p > 0 else -100.0 for p in map(float, probabilities)]
