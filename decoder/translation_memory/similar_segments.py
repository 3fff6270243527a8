"""The segment whose source is most similar to a sentence, and the words that both share.

Similarity is defined as in translators' tools: 1 - d / n, where d is the Levenshtein distance in words and n the number
of words of the longer sentence; 1 is an exact match.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from phrasebeam.decoder.translation_memory.segment import Segment

MOST_SENTENCES = 200  # segments that contain a word; more frequent words find no segments
MOST_COMPARED = 30  # segments that share most of the words by which segments are found

Words = tuple[str, ...]
Runs = tuple[tuple[int, int, int], ...]  # equal words: first word in the sentence, in the segment, number


@cache
def _levenshtein() -> Any:
    from rapidfuzz.distance import Levenshtein  # slow to import, and needed only with a memory

    return Levenshtein


class SegmentMatch(NamedTuple):
    """A confirmed segment whose source is similar to a sentence."""

    segment: Segment
    similarity: float  # more than 0; 1: the same words
    shared: Runs
    origin: str = ""  # the file from which it comes; "": it was confirmed in the project


class SimilarSegments:
    """Segments indexed by the words of their sources; must not be changed while others search."""

    def __init__(self, origin: str = "") -> None:
        """`origin`: the file that the segments come from, if any."""
        self.origin = origin
        self._segments = dict[int, Segment]()
        self._by_word = defaultdict[str, dict[int, None]](dict)  # numbers of segments, the latest last
        self._by_source = defaultdict[Words, dict[int, None]](dict)

    def __len__(self) -> int:
        return len(self._segments)

    def add(self, segment: Segment) -> None:
        """Add a segment, whose number must be new."""
        self._segments[segment.number] = segment
        self._by_source[segment.source][segment.number] = None
        for word in dict.fromkeys(segment.source):
            self._by_word[word][segment.number] = None

    def remove(self, number: int) -> None:
        """Remove the segment with this number."""
        source = self._segments.pop(number).source
        del self._by_source[source][number]
        for word in dict.fromkeys(source):
            del self._by_word[word][number]

    def best(self, words: Sequence[str], least: float) -> SegmentMatch | None:
        """The most similar segment, the latest one if tied; None if none reaches `least` (above 0)."""
        given = tuple(words)
        if same := self._by_source.get(given):
            return SegmentMatch(self._segments[next(reversed(same))], 1.0, ((0, 0, len(given)),), self.origin)
        rated = [(self._similarity(given, number, least), number) for number in self._candidates(given)]
        similarity, number = max(rated, default=(0.0, 0))
        if similarity < least:
            return None
        segment = self._segments[number]
        blocks = _levenshtein().opcodes(given, segment.source)
        runs = tuple((b.src_start, b.dest_start, b.src_end - b.src_start) for b in blocks if b.tag == "equal")
        return SegmentMatch(segment, similarity, runs, self.origin)

    def _similarity(self, given: Words, number: int, least: float) -> float:
        """The similarity to the source of a segment; 0 if it is below `least`."""
        source = self._segments[number].source
        similarity: float = _levenshtein().normalized_similarity(given, source, score_cutoff=least)
        return similarity

    def _candidates(self, given: Words) -> list[int]:
        """Numbers of the segments that share most rare words; the latest ones first in case of ties."""
        shared = Counter[int]()
        for word in dict.fromkeys(given):
            numbers = self._by_word.get(word, {}).keys()
            if len(numbers) <= MOST_SENTENCES:
                shared.update(numbers)
        return [number for number, _ in sorted(shared.items(), key=lambda item: (-item[1], -item[0]))[:MOST_COMPARED]]
