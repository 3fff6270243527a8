"""Positions of tokens in the text of a line, although tokenizers change quotation marks, case and the like."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

FARTHEST = 12  # characters that are skipped where both differ, counted together
LIKE = 3  # characters that must agree after a difference
DOUBLE, SINGLE = "“”„‟«»", "\u2018\u2019\u201a\u201b"
QUOTES = str.maketrans(dict.fromkeys(DOUBLE, '"') | dict.fromkeys(SINGLE, "'"))  # tokenizers make them alike


def token_spans(tokens: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The characters begin:end of `text` for each token, in order; only white space lies between them.

    Takes time linear in their lengths. A token that is not found in the text gets no characters.

    >>> token_spans(["der", '"', "hund", '"', "."], "Der „Hund“.")
    [(0, 3), (4, 5), (5, 9), (9, 10), (10, 11)]
    """
    places = [place for place, one in enumerate(text) if not one.isspace()]
    given = [one.lower() for token in tokens for one in token.translate(QUOTES)]
    found = _places(given, [text[place].translate(QUOTES).lower() for place in places])
    starts, first = list[int](), 0
    for token in tokens:
        starts.append(found[first] if starts else 0)
        first += len(token)
    return list(_spans([*starts, len(places)], places))


def _spans(starts: Sequence[int], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Spans of tokens that start at these non-space characters, whose positions are `places`."""
    end = 0
    for start, following in pairwise(starts):
        begin = places[start] if start < following else end
        end = places[following - 1] + 1 if start < following else end
        yield begin, end


def _places(given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """For each character of `given`, and for its end, the corresponding one of `wanted`; both are similar."""
    found, i, j = list[int](), 0, 0
    while i < len(given):
        more, others = 1, 1
        if given[i : i + 1] != wanted[j : j + 1]:
            more, others = _difference(given[i : i + FARTHEST + LIKE], wanted[j : j + FARTHEST + LIKE])
        found += [j + min(k, others) for k in range(more)]
        i, j = i + more, j + others
    return [*found, len(wanted)]


def _difference(given: Sequence[str], wanted: Sequence[str]) -> tuple[int, int]:
    """Numbers of characters of both to skip until they agree; one each if these numbers are too large."""
    for passed in range(1, FARTHEST + 1):
        for more in range(passed + 1):
            others = passed - more
            if given[more : more + LIKE] == wanted[others : others + LIKE]:
                return more, min(others, len(wanted))
    return 1, min(1, len(wanted))
