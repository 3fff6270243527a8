"""Translations of unknown words through known words: through other inflections, or through the parts of a compound."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import product
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPair
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.tables.phrase_table import LEAST_LN, TARGET_GIVEN_SOURCE
from phrasebeam.decoder.unknown_words.compounds import Part, pieces, split_compound

MOST_RELATED = 3  # known words that replace one unknown word
MOST_OF_WORD, MOST_OF_PART = 5, 3  # translations of a known word, and of a part
MOST_PAIRS = 10  # of an unknown word
MOST_HYPHENATED = 4  # parts
WORDS_KEPT = 1 << 12  # number of words whose pairs are cached
LEAST_SHARED = 4  # letters
LONGEST_SUFFIX = 3  # letters after the part that two related words share
SHARE = 0.6  # share of the longer of two related words that both have in common


class VocabularyIndex:
    """Words sorted by their lower-cased forms; case is ignored."""

    def __init__(self, words: Iterable[str]):
        self._entries = sorted((word.lower(), word) for word in words)

    def related(self, word: str) -> list[str]:
        """Related words, ordered by the number of shared letters; the word itself only in another casing."""
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
    """Whether two words with the same first `n_shared` letters are related; the rests must consist of letters."""
    suffixes = one[n_shared:], other[n_shared:]
    if n_shared < max(LEAST_SHARED, SHARE * max(len(one), len(other))):
        return False
    return all(len(suffix) <= LONGEST_SUFFIX and (not suffix or suffix.isalpha()) for suffix in suffixes)


class HeldOut(NamedTuple):
    """Counts that are subtracted for a training sentence that is left out."""

    words: frozenset[str] = frozenset()  # words of the sentence, whose pairs leave-one-out changes
    least_count: int = 0  # least count of pairs that may be used


class _Translation(NamedTuple):
    target: tuple[str, ...]
    scores: tuple[float, ...]  # ln scores of the phrase table
    n_words: int = 1  # number of known words

    @property
    def ln_probability(self) -> float:
        """ln p(e|f), or the score that the table has instead."""
        return self.scores[min(TARGET_GIVEN_SOURCE, len(self.scores) - 1)]


class RelatedPairs:
    """Finds pairs for the unknown words of a model; threads may share it."""

    def __init__(self, model: Model, bounds_checks: BoundsChecks):
        self._model, self._bounds_checks = model, bounds_checks
        self._kept = lru_cache(WORDS_KEPT)(self._translations)

    def of(self, word: str, begin: int, end: int, held_out: HeldOut | None = None) -> list[SyntheticPair]:
        """Pairs of the span begin:end for `word`, the likeliest ones first; empty if no known word is similar."""
        found = self._kept(word, HeldOut()) if held_out is None else self._translations(word, held_out)
        return [
            SyntheticPair(
                begin,
                end,
                one.target,
                unknown=UNKNOWN_WORD,
                alignment=tuple((0, i) for i in range(len(one.target))),
                ln_scores=one.scores,
                n_related=one.n_words,
            )
            for one in found
        ]

    @cached_property
    def _index(self) -> VocabularyIndex:
        return VocabularyIndex(self._model.source.words)

    def _translations(self, word: str, held_out: HeldOut) -> list[_Translation]:
        best = dict[tuple[str, ...], _Translation]()
        for translation in self._all(word, held_out):
            known = best.get(translation.target)
            if known is None or translation.ln_probability > known.ln_probability:
                best[translation.target] = translation
        return nlargest(MOST_PAIRS, best.values(), key=lambda one: one.ln_probability)

    def _all(self, word: str, held_out: HeldOut) -> Iterator[_Translation]:
        hyphenated = [part for part in word.split("-") if part]
        if 2 <= len(hyphenated) <= MOST_HYPHENATED:
            yield from self._joined([self._part(part, held_out) for part in hyphenated])
        for related in self._related(word, held_out):
            yield from self._of_known(related, MOST_OF_WORD, held_out)
        yield from self._of_compound(word, held_out)

    def _part(self, part: str, held_out: HeldOut) -> list[_Translation]:
        """Translations of a part between hyphens; a part without known translations is copied."""
        found = list(self._of_known(part, MOST_OF_PART, held_out))
        for related in [] if found else self._related(part, held_out):
            found += self._of_known(related, MOST_OF_PART, held_out)
        found = found or list(self._of_compound(part, held_out))
        copied = _Translation((part,), (0.0,) * self._model.n_scores, 0)
        return nlargest(MOST_OF_PART, found, key=lambda one: one.ln_probability) or [copied]

    def _of_compound(self, word: str, held_out: HeldOut) -> Iterable[_Translation]:
        known = self._known_forms(pieces(word), held_out)

        def last_part(piece: str) -> Part | None:
            if piece in known:
                return known[piece]
            related = self._related(piece, held_out)
            return self._known_forms(related[:1], held_out)[related[0]] if related else None

        parts = split_compound(word, lambda piece: known[piece].n_times if piece in known else 0, last_part)
        forms = [known[part].word if part in known else part for part in parts]
        return self._joined([list(self._of_known(form, MOST_OF_PART, held_out)) for form in forms])

    def _joined(self, parts: Sequence[list[_Translation]]) -> Iterator[_Translation]:
        for chosen in product(*parts) if parts else ():
            scores = [max(sum(values), LEAST_LN) for values in zip(*(one.scores for one in chosen))]
            n_words = sum(one.n_words for one in chosen)
            if n_words:
                yield _Translation(tuple(word for one in chosen for word in one.target), tuple(scores), n_words)

    def _related(self, word: str, held_out: HeldOut) -> list[str]:
        """The known words that are most similar to an unknown one."""
        related = self._index.related(word)
        known = self._known_forms(related, held_out)
        return [one for one in related if one in known][:MOST_RELATED]

    def _known_forms(self, words: Sequence[str], held_out: HeldOut) -> dict[str, Part]:
        """The forms of `words` that are source phrases, unchanged or else in another casing."""
        found = dict[str, Part]()
        for form in (str.capitalize, str.lower, str):
            forms = [form(word) for word in words]
            for word, own, source in zip(words, forms, self._sources(forms)):
                if source >= 0 and own not in held_out.words:
                    found[word] = Part(own, max(1, int(self._model.tables.phrases.source_counts[source])))
        return found

    def _sources(self, words: Sequence[str]) -> list[int]:
        """The numbers of the source phrases that consist of one of `words`; negative if there is none."""
        ids = self._model.source.ids(words)
        return self._bounds_checks.find_sources(ids, np.arange(ids.size + 1)).tolist()

    def _of_known(self, word: str, most: int, held_out: HeldOut) -> Iterator[_Translation]:
        """The likeliest translations of a word, if it is a source phrase."""
        source, phrases = self._sources([word])[0], self._model.tables.phrases
        if source < 0 or word in held_out.words:
            return
        first, last = phrases.pair_offsets[source : source + 2].tolist()
        scores, counts = phrases.scores_of(slice(first, last)), phrases.joint_counts[first:last]
        usable = np.flatnonzero((counts >= held_out.least_count) & np.isfinite(scores).all(axis=1))
        ln_probabilities = scores[usable, min(TARGET_GIVEN_SOURCE, self._model.n_scores - 1)]
        for i in usable[np.argsort(-ln_probabilities, kind="stable")][:most].tolist():
            begin, end = phrases.target_offsets[first + i : first + i + 2].tolist()
            target = tuple(self._model.target.word(w) for w in phrases.target_words[begin:end].tolist())
            yield _Translation(target, tuple(scores[i].tolist()))
