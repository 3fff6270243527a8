"""Moses' phrase and reordering tables in text, read into dicts."""

import math
import re

BLANKS = re.compile(r"[ \t\r\n\v\f]+")
POINT = re.compile(r"([0-9]+)-([0-9]+)")


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


def checked_lines(text, n_scores):
    """Fields of each line of a phrase table: the words of both phrases, scores, points, counts, sparse features.

    And the message for the first line that is not as expected, or None; the size of numbers is not looked at.
    """
    found, previous = [], None
    for number, line in enumerate(text.split("\n")[:-1], 1):
        fields = [field.strip(" \t") for field in line.rstrip("\r").split("|||")]
        if not 3 <= len(fields) <= 7:
            return found, f"{number}: {len(fields)} fields, expected 3 to 7"
        message, row = _checked((fields + [""] * 3)[:6], n_scores, previous)
        if message:
            return found, f"{number}: {message}"
        found.append(row)
        previous = fields[0]
    return found, None


def _checked(fields, n_scores, previous):
    """What is wrong with a line, or None, and its row."""
    source, target, scores, alignment, counts, sparse = fields
    is_new, features = source != previous, sparse.split()
    phrases = [BLANKS.sub(" ", phrase).strip(" ").split(" ") for phrase in (source, target)]
    if is_new and phrases[0] == [""]:
        return "0 source words", None
    if is_new and "|" in source:
        return "factors or an unescaped | in the source phrase", None
    if len(features) % 2:
        return "sparse features", None
    values, numbers, more = (floats(text) for text in (" ".join(features[1::2]), scores, counts))
    if values is None:
        return "values of sparse features", None
    for value in values:
        if not math.isfinite(value):
            return f"value {value} of the sparse feature", None
    if phrases[1] == [""]:
        return "0 target words", None
    if "|" in target:
        return "factors or an unescaped | in the target phrase", None
    if numbers is None:
        return "scores", None
    if len(numbers) != n_scores:
        return f"{len(numbers)} scores, expected {n_scores}", None
    points = [POINT.fullmatch(point) for point in alignment.split()]
    if not all(points) or any(len(point[0]) > 15 for point in points):
        return "alignment point", None
    if more is None:
        return "counts", None
    if len(more) > 3:
        return f"{len(more)} counts, expected at most 3", None
    ends = [(int(point[1]), int(point[2])) for point in points]
    return None, (*phrases, numbers, ends, more + [0.0] * (3 - len(more)), [*zip(features[::2], values)])


def floats(text):
    """The numbers of a text, or None where something else is there."""
    try:
        return [float(number) for number in text.split()]
    except ValueError:
        return None
