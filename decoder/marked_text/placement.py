"""Places of a sentence's marks in its translation: around or between the translations of their words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from phrasebeam.decoder.marked_text.marked_text import Mark
from phrasebeam.decoder.output.translation import Phrase

Span = tuple[int, int]


class PlacedMark(NamedTuple):
    """A mark before and after the words begin:end of a translation."""

    begin: int
    end: int
    mark: Mark
    children: "list[PlacedMark]"


class _WordLinks:
    """Links between words of a translation and words of its source."""

    def __init__(self, phrases: Iterable[Phrase], n_source: int, n_target: int):
        self.phrases, self.n_source, self.n_target = list(phrases), n_source, n_target

    def targets(self, begin: int, end: int) -> set[int]:
        """Words to which source words begin:end are translated: all words of whole phrases, aligned words of others."""
        found = set[int]()
        for phrase in self.phrases:
            first, behind = phrase.source_span
            if (begin <= first and behind <= end) or (first < end and begin < behind and not phrase.alignment):
                found.update(range(*phrase.target_span))
            else:
                found.update(j for i, j in phrase.alignment if begin <= i < end)
        return found

    def border(self, place: int, allowed: Iterable[int]) -> int:
        """The border between target words that best separates translations of the words before `place` from others.

        If several borders are equally good, the first.
        """
        before, behind = self.targets(0, place), self.targets(place, self.n_source)
        on_wrong_side = [len(before)]
        for j in range(self.n_target):
            on_wrong_side.append(on_wrong_side[-1] - (j in before) + (j in behind))
        return min(allowed, key=lambda border: (on_wrong_side[border], border))


def place_marks(
    marks: Sequence[Mark], spans: Sequence[Span], phrases: Iterable[Phrase], n_target: int
) -> list[PlacedMark]:
    """The marks of a sentence in its translation of `n_target` words and these phrases.

    `spans` are the characters of the source words. A mark is placed around the shortest run of words that contains all
    translations of its words. If this run contains words of a mark that is not nested in it, the mark is placed around
    the longest run without these. A mark without words is placed where the fewest translations are on the wrong side.
    """
    return _placed(marks, (0, n_target), spans, _WordLinks(phrases, len(spans), n_target))


def _placed(marks: Sequence[Mark], within: Span, spans: Sequence[Span], links: _WordLinks) -> list[PlacedMark]:
    sources = [_source_words(mark, spans) for mark in marks]
    owners = dict[int, int]()  # the mark to which each target word belongs
    for number, (begin, end) in enumerate(sources):
        if begin < end:
            for j in links.targets(begin, end):
                if within[0] <= j < within[1]:
                    owners.setdefault(j, number)
    wrapped = _longest_runs(owners)
    inside = {border for begin, end in wrapped.values() for border in range(begin + 1, end)}
    allowed = [border for border in range(within[0], within[1] + 1) if border not in inside]
    placed = []
    for number, mark in enumerate(marks):
        span = wrapped.get(number)
        if span is None:
            border = links.border(sources[number][0], allowed)
            span = border, border
        placed.append(PlacedMark(*span, mark, _placed(mark.children, span, spans, links)))
    return sorted(placed, key=lambda one: (one.begin, one.end))


def _source_words(mark: Mark, spans: Sequence[Span]) -> Span:
    """The source words that a mark wraps, entirely or in part; or the place between words where it stands, twice."""
    if mark.begin == mark.end:
        place = sum(begin < mark.begin for begin, _ in spans)
        return place, place
    first = sum(end <= mark.begin for _, end in spans)
    return first, max(first, sum(begin < mark.end for begin, _ in spans))


def _longest_runs(owners: dict[int, int]) -> dict[int, Span]:
    """For each owner, the span with most of its words and none of another owner; the first one in case of ties."""
    runs: dict[int, list[list[int]]] = {}
    last = None
    for word in sorted(owners):
        owner = owners[word]
        if owner != last:
            runs.setdefault(owner, []).append([])
        runs[owner][-1].append(word)
        last = owner
    longest = {owner: max(some, key=len) for owner, some in runs.items()}
    return {owner: (words[0], words[-1] + 1) for owner, words in longest.items()}
