"""Pieces of a confirmed translation as terms of a similar sentence (Koehn & Senellart 2010, section 3).

Words that the sentence shares with the confirmed one keep their translation, as far as word alignment can separate it;
the search translates the rest. Unlike in that paper, the pieces do not exclude other translations: they are added to
the phrase table's translations, with a given probability, and the search decides.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from phrasebeam.decoder.input.sentence_input import LONGEST_TERM, Input, Term
from phrasebeam.decoder.translation_memory.segment import Points, Segment
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch

MOST_WORDS = 250  # of a segment from which pieces are taken


def with_matched_terms(given: Input, match: SegmentMatch, probability: float) -> Input:
    """The sentence with the pieces of its match as terms with a `probability`; an exact match is one term.

    The sentence keeps its own terms; pieces do not overlap them. If the match is too long for pieces, the sentence
    stays unchanged; if an exact match is too long for one term, it is divided into pieces, too.
    """
    segment = match.segment
    if given.lattice is not None or len(segment.source) > MOST_WORDS or (given.terms and given.policy == "constraint"):
        return given
    if match.similarity == 1.0 and len(segment.source) <= LONGEST_TERM and not given.terms:
        # A typed prefix may show that the user wants another translation
        is_optional = bool(given.prefix.words)
        whole = Term(0, len(segment.source), segment.translation, alignment=segment.alignment, is_optional=is_optional)
        return replace(given, terms=(whole,), policy="exclusive")
    terms = (
        term
        for begin, first, length in match.shared
        for term in _pieces(segment, first, first + length, begin - first, probability)
        if all(term.end <= own.begin or own.end <= term.begin for own in given.terms)
    )
    return replace(given, terms=(*given.terms, *terms))


def _pieces(segment: Segment, begin: int, end: int, shift: int, probability: float) -> Iterator[Term]:
    """Terms of the longest phrase pair within source words begin:end of a segment, and of the longest ones beside it.

    `shift`: offset from a position in the segment's source to a position in the sentence.
    """
    chosen = list[tuple[int, int]]()
    for first, last in sorted(_phrases(segment.alignment, begin, end), key=lambda span: (span[0] - span[1], span[0])):
        if all(last <= other or behind <= first for other, behind in chosen):
            chosen.append((first, last))
    for first, last in sorted(chosen):
        for low, high in _targets(segment, first, last):
            points = tuple((s - first, t - low) for s, t in segment.alignment if first <= s < last)
            yield Term(
                first + shift, last + shift, segment.translation[low:high], probability, points, is_optional=True
            )


def _phrases(points: Points, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans within source words begin:end that phrase pairs cover, of at most LONGEST_TERM words."""
    targets_of, sources_of = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for s, t in points:
        targets_of[s].append(t)
        sources_of[t].append(s)
    for first in range(begin, end):
        targets = list[int]()
        for last in range(first + 1, min(end, first + LONGEST_TERM) + 1):
            targets += targets_of.get(last - 1, [])
            within = range(min(targets, default=0), max(targets, default=-1) + 1)
            if targets and all(first <= s < last for t in within for s in sources_of.get(t, [])):
                yield first, last


def _targets(segment: Segment, first: int, last: int) -> list[tuple[int, int]]:
    """Target spans of the phrase pair of source words first:last: without, then with, unaligned words at its ends."""
    aligned = {t for _, t in segment.alignment}
    targets = [t for s, t in segment.alignment if first <= s < last]
    low, high = min(targets), max(targets) + 1
    wide_low, wide_high = low, high
    while wide_low > 0 and wide_low - 1 not in aligned:
        wide_low -= 1
    while wide_high < len(segment.translation) and wide_high not in aligned:
        wide_high += 1
    return list(dict.fromkeys([(low, high), (wide_low, wide_high)]))
