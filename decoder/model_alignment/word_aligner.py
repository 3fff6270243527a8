"""Alignment of new sentence pairs by a hidden Markov model (Vogel et al. 1996) with a model's own word translations.

Each word of one side is emitted by a word of the other side, or by no word (Och & Ney 2003, section 3.1). A jump costs
more the farther it is from a step to the next word. Both directions are found and combined.
"""

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from phrasebeam.decoder.extraction.symmetrization import combined_points
from phrasebeam.decoder.model_alignment.word_translation import WordTranslation, counts_of

LN_JUMP = -0.6  # ln p of each word by which a jump is longer or shorter than a step to the next word
LN_NULL = np.log(0.15)  # ln p that no word emits the next word
UNSEEN = 1e-6  # p(word | word) of known words that were never linked
NEW_OF_NEW, NEW_OF_KNOWN, KNOWN_OF_NEW = 1e-2, 1e-5, 1e-5  # p(word | word) if the model does not know one or both words
ALIKE = 0.3  # p(word | word) of words that are alike, if one or both are new
LEAST_SHARED, SHARED = 4, 0.6  # alike words share this many first letters, and this part of the longer word
NULL_FLOOR = 1e-6  # least p(word | no word)
NONE = -1


class WordAligner:
    """Aligns sentence pairs with the word translations of a model; any number of threads may share one."""

    def __init__(self, translation: WordTranslation, heuristic: str = "grow_diag_final_and"):
        """`heuristic`: how both directions are combined, one of HEURISTICS."""
        self.translation, self.heuristic = translation, heuristic
        self._n_links = max(float(translation.source_counts.sum()), 1.0)

    def align(
        self, source: np.ndarray, target: np.ndarray, is_alike: np.ndarray | None = None
    ) -> tuple[tuple[int, int], ...]:
        """The (source, target) positions of aligned words, ascending, of sentences of ids (int32[n], int32[m]).

        Ids beyond the model's vocabularies stand for new words. `is_alike` (bool[n, m]): which words are alike, see
        alike_words.
        """
        if not source.size or not target.size:
            return ()
        known = self.translation
        counts = known.link_counts(source, target)
        source_counts, target_counts = counts_of(known.source_counts, source), counts_of(known.target_counts, target)
        target_given_source = _probabilities(counts, source_counts, target_counts, is_alike)
        source_given_target = _probabilities(
            counts.T, target_counts, source_counts, None if is_alike is None else is_alike.T
        )
        sources_of = best_sources(np.log(target_given_source), self._ln_null(target_counts))
        targets_of = best_sources(np.log(source_given_target), self._ln_null(source_counts))
        points = combined_points((sources_of + 1).tolist(), (targets_of + 1).tolist(), self.heuristic)
        return tuple((i, j) for i, j in points.tolist())

    def _ln_null(self, counts: np.ndarray) -> np.ndarray:
        """float64[m], ln p of words with these `counts` if no word emits them: frequent words are likelier."""
        return np.log(np.maximum(counts / self._n_links, NULL_FLOOR))


def _probabilities(
    counts: np.ndarray, given: np.ndarray, emitted: np.ndarray, is_alike: np.ndarray | None
) -> np.ndarray:
    """float64[n, m], p(word | word) from link `counts` (float64[n, m]) and counts of given and emitted words."""
    is_new, has_new = given[:, None] <= 0, emitted[None, :] <= 0
    floors = np.where(is_new, np.where(has_new, NEW_OF_NEW, KNOWN_OF_NEW), np.where(has_new, NEW_OF_KNOWN, UNSEEN))
    probabilities = np.maximum(counts / np.maximum(given[:, None], 1e-9), floors)
    if is_alike is not None:
        probabilities[is_alike & (is_new | has_new)] = ALIKE
    return probabilities


def best_sources(ln_emission: np.ndarray, ln_null: np.ndarray) -> np.ndarray:
    """int64[m], the position that emits each word on the best path, or NONE, by Viterbi's algorithm.

    `ln_emission` (float64[n, m]) is ln p of word j given that position i emits it, `ln_null` (float64[m]) ln p given
    that no position does; the path then continues from its last position. Of equal paths, the one with earlier
    positions is chosen.
    """
    n, m = ln_emission.shape
    positions = np.arange(n)
    ln_jump = LN_JUMP * np.abs(positions[None, :] - positions[:, None] - 1.0)  # from row to column
    came_from = np.zeros((m, n), np.int64)  # previous position
    was_null = np.zeros((m + 1, n), bool)  # whether the better state at the position emits nothing
    best = LN_JUMP * positions.astype(float)  # ln p of the best path to a position, as if from -1
    null = np.full(n, -np.inf)
    emitting = best + ln_emission[:, 0]
    null = np.where(positions == 0, LN_NULL + ln_null[0], -np.inf)
    for j in range(1, m):
        was_null[j - 1] = null > emitting
        best = np.maximum(emitting, null)
        scores = best[:, None] + ln_jump
        came_from[j] = scores.argmax(axis=0)
        emitting = scores[came_from[j], positions] + ln_emission[:, j]
        null = best + LN_NULL + ln_null[j]
    was_null[m - 1] = null > emitting
    return _traced(np.maximum(emitting, null).argmax(), came_from, was_null)


def _traced(position: np.intp, came_from: np.ndarray, was_null: np.ndarray) -> np.ndarray:
    """int64[m], the path that ends in `position`, traced backwards."""
    m = len(came_from)
    path, at = np.full(m, NONE, np.int64), int(position)
    for j in range(m - 1, -1, -1):
        if not was_null[j, at]:
            path[j] = at
            at = int(came_from[j, at])
    return path


def alike_words(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """bool[n, m], which words are the same on both sides, or begin alike, regardless of case: names, loans."""
    sides = [[word.lower() for word in words] for words in (source, target)]
    return np.array([[_are_alike(f, e) for e in sides[1]] for f in sides[0]], bool).reshape(len(source), len(target))


def _are_alike(f: str, e: str) -> bool:
    if f == e:
        return True
    if len(f) < LEAST_SHARED or f[:LEAST_SHARED] != e[:LEAST_SHARED]:
        return False
    n_shared = sum(1 for _ in takewhile(lambda letters: letters[0] == letters[1], zip(f, e)))
    return n_shared >= SHARED * max(len(f), len(e))
