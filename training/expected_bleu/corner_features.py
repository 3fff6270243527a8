"""Features of the words at the corners of phrase pairs in an orientation, set (e), and their scores.

After Cherry (2013), Improved Reordering for Phrase-Based Translation using Sparse Features: for each direction and
orientation that the model's lexicalized reordering tells apart, the first and the last word of the source and of the
target phrase, each as its class and, if it is frequent, as itself. His features of the phrase before and of the words
between are left out: scores of phrase pairs know none of these. Like those of set (d) they become C columns more of
the reordering table; unlike those, pairs that no list has are scored, too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering import ABSENT, Orientations
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.word_counts import word_counts
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.expected_bleu.list_store import Events
from phrasebeam.training.expected_bleu.objective import Design
from phrasebeam.training.expected_bleu.orientation_features import PAIRS_AT_ONCE, event_columns

CORNERS = ("first source word", "last source word", "first target word", "last target word")
CLASS, WORD = 0, 1  # columns of groups


class WordGroups(NamedTuple):
    """The groups of words that features tell apart: of each side its classes, then its frequent words, G at most."""

    source: np.ndarray  # int32[V, 2], by word id: its class, and the group of the word alone; ABSENT where it has none
    target: np.ndarray  # int32[V, 2], likewise
    size: int  # G


def word_groups(model: Model, classes: tuple[Path, Path], n_frequent: int) -> WordGroups:
    """The groups of a model's words, of files of source and target `classes`, and of the most frequent words."""
    vocabularies = model.source, model.target
    counts = word_counts(model.tables.phrases, len(model.source), len(model.target))
    maps = map(read_word_classes, classes)
    sides = [_groups(*side, n_frequent) for side in zip(maps, vocabularies, counts)]
    return WordGroups(sides[0], sides[1], 1 + max(int(side.max(initial=ABSENT)) for side in sides))


def _groups(classes: Mapping[str, str], words: FixedVocabulary, counts: np.ndarray, n_frequent: int) -> np.ndarray:
    """int32[V, 2], of one side. Equally frequent words are taken in the order of the vocabulary."""
    groups = np.full((len(words), 2), ABSENT, np.int32)
    numbers = {name: number for number, name in enumerate(sorted(set(classes.values())))}
    numbers_of_words = (numbers.get(classes.get(words.word(i), ""), ABSENT) for i in range(len(words)))
    groups[:, CLASS] = np.fromiter(numbers_of_words, np.int32, len(words))
    frequent = np.argsort(-counts, kind="stable")[:n_frequent]
    frequent = frequent[counts[frequent] > 0]
    groups[frequent, WORD] = len(numbers) + np.arange(frequent.size)
    return groups


def corner_groups(table: PhraseTable, groups: WordGroups, pairs: np.ndarray) -> np.ndarray:
    """int32[K, 4, 2], the groups of the word at each of CORNERS of each of `pairs` (int64[K]), or ABSENT."""
    found = np.full((pairs.size, len(CORNERS), 2), ABSENT, np.int32)
    sources = np.searchsorted(table.pair_offsets, pairs, side="right") - 1
    sides = (
        (table.source_offsets, table.source_words, sources, groups.source),
        (table.target_offsets, table.target_words, pairs, groups.target),
    )
    for side, (offsets, words, phrases, by_word) in enumerate(sides):
        begin, end = offsets[phrases], offsets[phrases + 1]
        has_words = begin < end
        found[has_words, 2 * side] = by_word[words[begin[has_words]]]
        found[has_words, 2 * side + 1] = by_word[words[end[has_words] - 1]]
    return found


@dataclass(frozen=True)
class CornerFeatures:
    """Features of each of C columns, each of CORNERS and each of G groups, in this order, whether events fire them."""

    table: PhraseTable
    groups: WordGroups
    n_columns: int  # C
    design: Design  # features are numbered from `n_before` on, see find_corner_features

    @property
    def size(self) -> int:
        """Number of features, F = C * 4 * G."""
        return self.n_columns * len(CORNERS) * self.groups.size

    def scores(self, weights: np.ndarray) -> Iterator[np.ndarray]:
        """float32[K, C] scores of all pairs, in pieces of PAIRS_AT_ONCE, by `weights` (float64[F])."""
        # The last group is that of ABSENT, which is -1.
        by_group = np.zeros((self.n_columns, len(CORNERS), self.groups.size + 1))
        by_group[:, :, :-1] = weights.reshape(self.n_columns, len(CORNERS), -1)
        corners, n_pairs = np.arange(len(CORNERS))[:, None], self.table.target_offsets.size - 1
        for begin in range(0, n_pairs, PAIRS_AT_ONCE):
            pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, n_pairs))
            groups = corner_groups(self.table, self.groups, pairs)
            columns = [of_column[corners, groups].sum(axis=(1, 2)) for of_column in by_group]
            yield np.stack(columns, axis=1).astype(np.float32)


def find_corner_features(
    model: Orientations, table: PhraseTable, groups: WordGroups, events: Events, n_before: int
) -> CornerFeatures:
    """The features of events; other features are the first `n_before`."""
    first, fired = np.zeros(events.pair.size + 1, np.int64), [np.zeros(0, np.int32)]
    for begin in range(0, events.pair.size, PAIRS_AT_ONCE):
        piece = events.take(np.arange(begin, min(begin + PAIRS_AT_ONCE, events.pair.size)))
        columns = event_columns(model, piece)[:, :, None, None]
        of_words = corner_groups(table, groups, piece.pair)[:, None].astype(np.int64)
        corners = columns * len(CORNERS) + np.arange(len(CORNERS))[:, None]
        fires = (columns != ABSENT) & (of_words != ABSENT)
        numbers = corners * groups.size + of_words
        first[begin + 1 : begin + 1 + piece.pair.size] = first[begin] + np.cumsum(fires.sum(axis=(1, 2, 3)))
        fired.append((numbers[fires] + n_before).astype(np.int32))
    return CornerFeatures(table, groups, model.ln_default.size, Design(first, np.concatenate(fired)))
