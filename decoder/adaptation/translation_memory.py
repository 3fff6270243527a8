"""A translation memory: the most similar of many translated sentences, and which of its words it shares.

Similarity is that of translators' tools: 1 - d / n, where d is the Levenshtein distance of the words and n the number
of words of the longer sentence; 1 is an exact match.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from phrasebeam.decoder.adaptation.segment import Segment

MOST_SENTENCES = 200  # that have a word; a more frequent one finds none
MOST_COMPARED = 30  # sentences: those that share most of the words that find sentences

Words = tuple[str, ...]
Runs = tuple[tuple[int, int, int], ...]  # equal words: first one of the sentence, of the segment, how many


class MemoryMatch(NamedTuple):
    """A sentence of the memory that is similar to another one."""

    key: int  # by which it was added
    similarity: float  # more than 0; 1: the same words
    shared: Runs


class SegmentMatch(NamedTuple):
    """A confirmed segment whose source is similar to a sentence."""

    segment: Segment
    similarity: float  # more than 0; 1: the same words
    shared: Runs


class TranslationMemory:
    """Sentences by their words, for finding the most similar one; not to be changed while others search in it."""

    def __init__(self) -> None:
        self._sentences = dict[int, Words]()
        self._by_word = defaultdict[str, dict[int, None]](dict)  # keys of sentences, the latest last
        self._by_sentence = defaultdict[Words, dict[int, None]](dict)

    def add(self, key: int, source: Sequence[str]) -> None:
        """Add a sentence under a key of its own."""
        words = tuple(source)
        self._sentences[key] = words
        self._by_sentence[words][key] = None
        for word in dict.fromkeys(words):
            self._by_word[word][key] = None

    def remove(self, key: int) -> None:
        """Remove the sentence of a key."""
        words = self._sentences.pop(key)
        del self._by_sentence[words][key]
        for word in dict.fromkeys(words):
            del self._by_word[word][key]

    def best(self, words: Sequence[str], least: float) -> MemoryMatch | None:
        """The most similar sentence, of equally similar ones the latest; None where none reaches `least` (above 0)."""
        given = tuple(words)
        if same := self._by_sentence.get(given):
            return MemoryMatch(next(reversed(same)), 1.0, ((0, 0, len(given)),))
        rated = [(self._similarity(given, key, least), key) for key in self._candidates(given)]
        similarity, key = max(rated, default=(0.0, 0))
        if similarity < least:
            return None
        blocks = Levenshtein.opcodes(given, self._sentences[key])
        runs = tuple((b.src_start, b.dest_start, b.src_end - b.src_start) for b in blocks if b.tag == "equal")
        return MemoryMatch(key, similarity, runs)

    def _similarity(self, given: Words, key: int, least: float) -> float:
        """The similarity to the sentence of a key; 0 where it is below `least`."""
        return Levenshtein.normalized_similarity(given, self._sentences[key], score_cutoff=least)

    def _candidates(self, given: Words) -> list[int]:
        """Keys of the sentences that share most words which few sentences have; of as many the latest."""
        shared = Counter[int]()
        for word in dict.fromkeys(given):
            keys = self._by_word.get(word, {}).keys()
            if len(keys) <= MOST_SENTENCES:
                shared.update(keys)
        return [key for key, _ in sorted(shared.items(), key=lambda item: (-item[1], -item[0]))[:MOST_COMPARED]]
