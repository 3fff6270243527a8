"""Pieces of a confirmed translation as terms of a similar sentence (Koehn & Senellart 2010, section 3).

Words that the sentence shares with the confirmed one keep their translation, as far as word alignment tells it apart;
the search translates the rest. Unlike there the pieces do not exclude other translations: they stand beside the phrase
table's, with a probability of their own, and the search decides.
"""

from collections.abc import Iterator
from dataclasses import replace

from phrasebeam.decoder.adaptation.segment import Points, Segment
from phrasebeam.decoder.adaptation.translation_memory import SegmentMatch
from phrasebeam.decoder.input.sentence_input import Input, Term


def with_matched_terms(given: Input, match: SegmentMatch, probability: float) -> Input:
    """The sentence with the pieces of its match as terms of a probability; the whole of it where the match is exact.

    A sentence that has terms of its own keeps to these.
    """
    segment = match.segment
    if given.terms or given.lattice is not None:
        return given
    if match.similarity == 1.0:
        whole = Term(0, len(segment.source), segment.translation, alignment=segment.alignment)
        # Who types another beginning wants another translation
        return replace(given, terms=(whole,), policy="inclusive" if given.prefix.words else "exclusive")
    terms = (
        term
        for begin, first, length in match.shared
        for term in _pieces(segment, first, first + length, begin - first, probability)
    )
    return replace(given, terms=tuple(terms), policy="inclusive")


def _pieces(segment: Segment, begin: int, end: int, shift: int, probability: float) -> Iterator[Term]:
    """Terms of the longest phrase pair within source words begin:end of a segment, and of what is before and behind it.

    `shift`: from a position in the segment's source to one in the sentence.
    """
    found = _longest_phrase(segment.alignment, begin, end)
    if found is None:
        return
    first, last = found
    yield from _pieces(segment, begin, first, shift, probability)
    for low, high in _targets(segment, first, last):
        points = tuple((s - first, t - low) for s, t in segment.alignment if first <= s < last)
        yield Term(first + shift, last + shift, segment.translation[low:high], probability, points)
    yield from _pieces(segment, last, end, shift, probability)


def _longest_phrase(points: Points, begin: int, end: int) -> tuple[int, int] | None:
    """The longest of the spans within begin:end that a phrase pair covers, the first of several; None: none does."""
    for length in range(end - begin, 0, -1):
        for first in range(begin, end - length + 1):
            targets = [t for s, t in points if first <= s < first + length]
            if targets:
                low, high = min(targets), max(targets)
                if all(first <= s < first + length for s, t in points if low <= t <= high):
                    return first, first + length
    return None


def _targets(segment: Segment, first: int, last: int) -> list[tuple[int, int]]:
    """Target spans of the phrase pair of source words first:last, without unaligned words at its ends and with them."""
    aligned = {t for _, t in segment.alignment}
    targets = [t for s, t in segment.alignment if first <= s < last]
    low, high = min(targets), max(targets) + 1
    wide_low, wide_high = low, high
    while wide_low > 0 and wide_low - 1 not in aligned:
        wide_low -= 1
    while wide_high < len(segment.translation) and wide_high not in aligned:
        wide_high += 1
    return list(dict.fromkeys([(low, high), (wide_low, wide_high)]))
