"""Derivations of a sentence as translations for users, from what is known after its search has ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import DenseWeights, FeatureLayout
from phrasebeam.decoder.features.language_model import begin_states, new_states
from phrasebeam.decoder.features.reordering import DIRECTIONS
from phrasebeam.decoder.features.stateful import new_feature_memory
from phrasebeam.decoder.features.stateful_feature import Room
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.input.synthetic_pairs import longest_target
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import new_target_room
from phrasebeam.decoder.options.score_checks import alignment_in
from phrasebeam.decoder.output.derivation import Derivation, FeatureSpace, fill_feature_matrix
from phrasebeam.decoder.output.translation import Phrase, Translation
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence
from phrasebeam.decoder.sparse.feature_names import Points
from phrasebeam.decoder.sparse.sparse_features import most_sparse_features, new_sparse_features
from phrasebeam.kernels.jit import direct

PHRASES_KEPT = 1 << 14
_fill_feature_matrix, _begin_states = direct(fill_feature_matrix), direct(begin_states)


class ViewCache(NamedTuple):
    """Words and phrases shared by the derivations of one sentence."""

    targets: dict[int, Sequence[str]]  # by pair
    phrases: dict[tuple[int, int, int, int], Phrase]  # by pair, begin, end and target position


@dataclass(frozen=True)
class DerivationView:
    """A sentence, and the model with which it was translated."""

    source: PreparedSentence
    model: Model
    weights: DenseWeights
    features: FeatureLayout
    table_words: Callable[[int], Sequence[str]]  # target words of a pair of the model's table

    @property
    def tables(self) -> Tables:
        """The tables in which the sentence was looked up."""
        return self.source.tables.tables

    def translation(
        self, derivation: Derivation, score: float, values: np.ndarray | None = None, cache: ViewCache | None = None
    ) -> Translation:
        """A derivation as users see it; `values` are its features, float64[F], if they are known."""
        kept = DerivationView(self.source, self.model, self.weights, self.features, self.table_words)
        pairs = original_pairs(derivation.pair, self.source.tables.origin).tolist()
        phrases = list(zip(pairs, derivation.begin.tolist(), derivation.end.tolist()))
        cache = cache or ViewCache({}, {})
        for pair in pairs:
            if pair not in cache.targets:
                cache.targets[pair] = self.target(pair)
        text = " ".join([word for pair in pairs for word in cache.targets[pair]])
        find_features = (
            partial(kept._one_vector, derivation) if values is None else partial(self.features.by_group, values)
        )
        translation = Translation(text, score, find_features, partial(kept._phrases, phrases, cache))
        if values is None and self.source.tables.origin is not None:
            _ = translation.features  # compute them now: the next sentence in the workspace overwrites these tables
        return translation

    def _one_vector(self, derivation: Derivation) -> dict[str, float | list[float]]:
        matrix = np.zeros((1, self.features.size))
        self.fill_features(derivation, np.array([0, derivation.pair.size]), matrix)
        return self.features.by_group(matrix[0])

    def fill_features(
        self, phrases: Derivation, offsets: np.ndarray, matrix: np.ndarray, is_complete: bool = True
    ) -> None:
        """Fill `matrix` with feature values of the derivations offsets[i]:offsets[i + 1] of `phrases` alone.

        The derivations translate the whole sentence unless `is_complete` is false.
        """
        space = self.feature_space(int(np.diff(offsets).max()), is_complete)
        _fill_feature_matrix(phrases, offsets, self.tables, self.source.sentence, space, matrix)

    def feature_space(self, n_phrases: int, is_complete: bool) -> FeatureSpace:
        """Room for derivations of up to `n_phrases` phrases."""
        lms, sparse, synthetic = self.tables.lms, self.tables.sparse, self.source.sentence.synthetic
        states = new_states(lms.orders, 1, memo_size=0)
        _begin_states(lms, states)
        longest = max(self.model.description.max_target_phrase_length, longest_target(synthetic))
        room = Room(2 << n_phrases.bit_length(), max(longest, self.source.sentence.longest))
        return FeatureSpace(
            states,
            new_feature_memory(self.tables, room),
            np.empty((n_phrases, len(DIRECTIONS)), np.int8),
            self.features.places(),
            self.weights.by_length.shape[1] - 1,
            *new_target_room(n_phrases * longest + 1, lms.orders.size),
            new_sparse_features(n_phrases * most_sparse_features(sparse), sparse.begin_classes.size - 1),
            is_complete,
        )

    def _phrases(self, phrases: list[tuple[int, int, int]], cache: ViewCache) -> tuple[Phrase, ...]:
        found, position = [], 0
        for pair, begin, end in phrases:
            key = pair, begin, end, position
            if key not in cache.phrases:
                cache.phrases[key] = self._phrase(*key, cache.targets[pair])
            found.append(cache.phrases[key])
            position = found[-1].target_span[1]
        return tuple(found)

    def _phrase(self, pair: int, begin: int, end: int, position: int, target: Sequence[str]) -> Phrase:
        is_copied = is_fallback = is_unknown = False
        words, positions = self.source.words[begin:end], tuple(range(begin, end))
        if self.source.lattice is not None:
            path = self.source.path(pair, begin, end)
            words, positions = list(path.words), path.positions
        if pair < 0:
            synthetic = self.source.synthetic[-1 - pair]
            is_copied = synthetic.unknown != 0 and bool(words) and list(synthetic.target) == words
            is_replaced = is_copied or synthetic.n_related or synthetic.n_spelled
            is_fallback = synthetic.unknown != 0 and bool(target) and not is_replaced
            is_unknown = synthetic.unknown != 0 and not is_fallback
            points: Points = synthetic.alignment
        else:
            points = alignment_in(self.model.tables.phrases, pair, len(words), len(target))
        return Phrase(
            " ".join(words),
            " ".join(target),
            (begin, end),
            (position, position + len(target)),
            tuple((positions[i], position + j) for i, j in points),
            is_copied,
            is_fallback,
            is_unknown,
        )

    def target(self, pair: int) -> Sequence[str]:
        """Target words of a pair; a negative pair is synthetic."""
        if pair < 0:
            synthetic = self.source.synthetic[-1 - pair]
            return [synthetic.shown] if synthetic.shown else synthetic.target
        return self.table_words(pair)

    def words_of(self, pair: int) -> Sequence[str]:
        """Target words of a pair, as the models spell them."""
        return self.source.synthetic[-1 - pair].target if pair < 0 else self.table_words(pair)

    def points_of(self, pair: int, n_source: int, n_target: int) -> Points:
        """Alignment points of a pair with these numbers of words, in the form that sparse features need."""
        if pair < 0:
            return self.source.synthetic[-1 - pair].points
        return alignment_in(self.model.tables.phrases, pair, n_source, n_target)


def cached_target_words(model: Model) -> Callable[[int], Sequence[str]]:
    """A function that returns the target words of a pair of the model's table; the most recently used are cached."""
    table, word = model.tables.phrases, model.target.word

    @lru_cache(PHRASES_KEPT)
    def words(pair: int) -> Sequence[str]:
        first, end = table.target_offsets[pair : pair + 2].tolist()
        return [word(i) for i in table.target_words[first:end].tolist()]

    return words
