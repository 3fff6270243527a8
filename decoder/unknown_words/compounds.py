"""Compounds split into known words, by the geometric mean of their frequencies (Koehn & Knight 2003, section 4.2).

*Empirical Methods for Compound Splitting*. A filler, or a few letters of an ending, may stand between parts.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

LEAST_PART = 4  # letters
MOST_PARTS = 4
LONGEST_COMPOUND = 60  # letters; longer strings are not words
FILLERS = ("", "s", "n", "e", "es", "en", "er", "nen", "ens")  # of German; they include those of other languages


class Part(NamedTuple):
    """A known word that is part of a compound."""

    word: str
    n_times: int  # count of the word


class _Split(NamedTuple):
    """The best split of the beginning of a word into a given number of parts."""

    ln_product: float  # ln of the product of the counts of the parts
    parts: tuple[str, ...]


def pieces(word: str) -> list[str]:
    """All strings that can be parts of a compound."""
    n = len(word)
    if not 2 * LEAST_PART <= n <= LONGEST_COMPOUND:
        return []
    cuts = [(i, j) for i in range(n) for j in range(i + LEAST_PART, n + 1) if j - i < n]
    return list(dict.fromkeys(word[i:j] for i, j in cuts))


def split_compound(word: str, count: Callable[[str], int], last_part: Callable[[str], Part | None]) -> tuple[str, ...]:
    """The parts of a compound, two or more; () if the word is not a compound.

    `count` returns how often a string occurs as a word; `last_part` returns the known word, which may be inflected,
    that corresponds to the end of a compound. Of equally good splits, the one with fewer parts is chosen, then the one
    with longer last parts.
    """
    n, best = len(word), dict[tuple[int, int], _Split]()  # by number of letters and parts
    if not 2 * LEAST_PART <= n <= LONGEST_COMPOUND:
        return ()
    best[0, 0] = _Split(0.0, ())
    for end in range(LEAST_PART, n + 1):
        for begin in range(end - LEAST_PART + 1):
            ends = [(end, n_parts) for n_parts in range(1, MOST_PARTS + 1) if (begin, n_parts - 1) in best]
            if not ends or (begin == 0 and end == n):
                continue
            for part in _parts(word[begin:end], end == n, count, last_part):
                for place in ends:
                    before = best[begin, place[1] - 1]
                    split = _Split(before.ln_product + math.log(part.n_times), (*before.parts, part.word))
                    if place not in best or split.ln_product > best[place].ln_product:
                        best[place] = split
    whole = [(-best[n, size].ln_product / size, size) for size in range(2, MOST_PARTS + 1) if (n, size) in best]
    return best[n, min(whole)[1]].parts if whole else ()


def _parts(
    piece: str, is_last: bool, count: Callable[[str], int], last_part: Callable[[str], Part | None]
) -> Iterator[Part]:
    """The known words that a piece of a compound may be."""
    if is_last:
        if part := last_part(piece):
            yield part
        return
    for filler in FILLERS:
        word = piece.removesuffix(filler)
        if len(word) >= LEAST_PART and len(word) + len(filler) == len(piece) and (n := count(word)):
            yield Part(word, n)
