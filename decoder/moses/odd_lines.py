"""Lines of Moses' text phrase tables that kernels cannot read: reports errors, or rewrites them like usual lines."""

import math

from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.moses.table_lines import FEWEST_FIELDS, MOST_FIELDS, N_COUNTS, SEPARATOR
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.lm.text.corpus import split


def plain_line(line: str, source_before: str, n_scores: int) -> bytes:
    """A line, after one with source phrase `source_before` ("": none), rewritten for kernels. Raises ValueError.

    Python reads numbers such as 1_0, and splits at white space that is not ASCII.
    """
    fields = [field.strip(" \t") for field in line.rstrip("\r\n").split(SEPARATOR)]
    if not FEWEST_FIELDS <= len(fields) <= MOST_FIELDS:
        raise ValueError(f"{len(fields)} fields, expected 3 to 7: source ||| target ||| scores ||| alignment ...")
    source, target, scores, alignment, counts, sparse = (fields + [""] * 3)[:6]
    if source != source_before or not source:
        _check_words(source, "source")
    features = _features(sparse)
    _check_words(target, "target")
    score_numbers = _numbers(scores, "scores")
    if len(score_numbers) != n_scores:
        raise ValueError(f"{len(score_numbers)} scores, expected {n_scores} as moses.ini says")
    points = alignment.split()
    for point in points:
        _check_point(point)
    count_numbers = _numbers(counts, "counts")
    if len(count_numbers) > N_COUNTS:
        raise ValueError(f"{len(count_numbers)} counts, expected at most 3: c(e) c(f) c(e,f)")
    columns = map(repr, score_numbers), points, map(repr, count_numbers), features
    return f" {SEPARATOR} ".join((source, target, *map(" ".join, columns))).encode("utf-8")


def _features(text: str) -> list[str]:
    """The sparse features of a pair, names and values in turn."""
    fields = text.split()
    if len(fields) % 2:
        raise ValueError(f"sparse features {excerpt(text)}, expected names and values in turn")
    values = _numbers(" ".join(fields[1::2]), "values of sparse features")
    for name, value in zip(fields[::2], values):
        if not math.isfinite(value):
            raise ValueError(f"value {value} of the sparse feature {excerpt(name)}, expected a finite number")
    return [text for name, value in zip(fields[::2], values) for text in (name, repr(value))]


def _check_words(text: str, side: str) -> None:
    n_words = len(split(text))
    if not 0 < n_words <= LONGEST_PHRASE:
        raise ValueError(f"{n_words} {side} words, expected 1 to {LONGEST_PHRASE}; remove the line")
    if "|" in text:
        found = f"factors or an unescaped | in the {side} phrase {excerpt(text)}"
        raise ValueError(f"{found}; train without factors, write | as &#124;")


def _numbers(text: str, what: str) -> list[float]:
    try:
        return [float(number) for number in text.split()]
    except ValueError:
        raise ValueError(f"{what} {excerpt(text)}, expected numbers") from None


def _check_point(text: str) -> None:
    source, _, target = text.partition("-")
    if not ((source + target).isascii() and source.isdecimal() and target.isdecimal() and len(text) < 16):
        raise ValueError(f"alignment point {excerpt(text)}, expected SOURCE-TARGET such as 0-1")
