"""Words of a vocabulary that share their beginning with another word, as inflections of one word do.

That takes no knowledge of the language: words are related where they differ in a few letters at their ends.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

LEAST_SHARED = 4  # letters
LONGEST_SUFFIX = 3  # letters behind what two related words share
SHARE = 0.6  # of the longer one of two related words, that both share


class VocabularyIndex:
    """Words in the order of their lower-cased forms; casing does not tell them apart."""

    def __init__(self, words: Iterable[str]):
        self._entries = sorted((word.lower(), word) for word in words)

    def related(self, word: str) -> list[str]:
        """Related words, those that share most letters first; the word itself is none, in another casing it is."""
        lower = word.lower()
        found = [(-_n_shared(lower, other), len(other), other, own) for other, own in self._near(lower) if own != word]
        return [own for n_shared, _, other, own in sorted(found) if _are_related(lower, other, -n_shared)]

    def _near(self, lower: str) -> Iterator[tuple[str, str]]:
        """The entries that share enough letters with a lower-cased word to be related."""
        n_shared = max(LEAST_SHARED, len(lower) - LONGEST_SUFFIX)
        beginning = lower[:n_shared]
        if len(beginning) < n_shared:
            return
        for i in range(bisect_left(self._entries, (beginning,)), len(self._entries)):
            if not self._entries[i][0].startswith(beginning):
                return
            yield self._entries[i]


def _n_shared(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _are_related(one: str, other: str, n_shared: int) -> bool:
    """Whether two words that begin with the same `n_shared` letters are related; digits and marks tell words apart."""
    suffixes = one[n_shared:], other[n_shared:]
    if n_shared < max(LEAST_SHARED, SHARE * max(len(one), len(other))):
        return False
    return all(len(suffix) <= LONGEST_SUFFIX and (not suffix or suffix.isalpha()) for suffix in suffixes)
