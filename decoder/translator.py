"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from decoder.config import Search, Weights
from decoder.cube_pruning import cube_search
from decoder.derivation import Derivation, fill_feature_matrix, fill_features
from decoder.extension import Limits, SearchSpace
from decoder.features.dense import LN10, FeatureNames, dense_weights, weight_vector
from decoder.features.language_model import forget_states, intern_state
from decoder.future_cost import fill_future_cost
from decoder.hypothesis_graph import best_derivation
from decoder.model import Model, open_model
from decoder.nbest import best_derivations
from decoder.options import COPY, FULL, fill_options
from decoder.ordered_map import map_ordered
from decoder.search import search
from decoder.stacks import OK
from decoder.tables import Sentence
from decoder.translation import Phrase, Translation
from decoder.workspace import Workspace
from lm.corpus import split
from lm.errors import ConfigError
from lm.resident import let_go_beyond

SENTENCES_BETWEEN_LOOKS = 8  # at the memory of the process; one touches some 10 MB


class Decoder:
    """A model and the limits within which it is searched; any number of threads may share one."""

    def __init__(
        self,
        model: Model,
        search: Search | None = None,
        weights: Weights | None = None,
        memory: int | None = None,
    ):
        """`weights` default to the model's own. Raises ModelError if they do not fit the model.

        With `memory`, the pages of the model's files are let go of when the process holds more bytes than that.
        """
        self.model, self._n_decoded = model, 0
        self._memory = memory and memory - memory // 8  # between two looks it grows
        self.search = search or Search()
        tables = model.tables
        self.weights = dense_weights(
            weights or model.weights, tables.phrases.ln_scores.shape[1], model.description.reordering
        )
        self.longest = min(self.search.max_phrase_length, model.description.max_source_phrase_length)
        self.features = FeatureNames(self.weights.translation.size, self.weights.reordering.size)
        limits = self.search
        self._limits = Limits(
            limits.stack,
            limits.pop_limit,
            limits.ln_beam_threshold,
            limits.distortion_limit,
            self.weights.distortion,
            self.weights.language_model * LN10,
        )
        self._local = threading.local()

    @classmethod
    def load(
        cls,
        directory: str | Path,
        search: Search | None = None,
        weights: Weights | None = None,
        memory: int | None = None,
    ) -> "Decoder":
        """The decoder of the model in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_model(directory), search, weights, memory)

    def translate(self, line: str) -> Translation:
        """The best translation of a tokenized sentence that the search finds."""
        words = split(line)
        sentence = self._sentence(words)
        derivation, score = self._best(self._decode(sentence), len(words))
        features = self._features(derivation, sentence)
        if not words:  # nothing was searched
            score = float(weight_vector(self.weights) @ features)
        return self._translation(words, derivation, score, features, {})

    def nbest(self, line: str, n: int, distinct: bool = False) -> list[Translation]:
        """The `n` best derivations that the search kept, the first being that of translate(line).

        With `distinct`, the best derivation of each of the `n` best target strings. Fewer where there are not so many.
        Raises ConfigError unless n >= 1.
        """
        if n < 1:
            raise ConfigError(f"n is {n}, expected at least 1")
        words = split(line)
        sentence = self._sentence(words)
        workspace, tables = self._decode(sentence), self.model.tables
        copy_ids = self._copy_ids(words) if distinct else None
        best = best_derivations(workspace.graph, len(words), n, workspace.options, tables.phrases, copy_ids)
        matrix = np.zeros((best.score.size, len(self.features.names())))
        lm_words = np.empty(len(words) * workspace.candidates.lm_words.size + 1, np.int32)
        fill_feature_matrix(
            best.phrases, best.offsets, tables, sentence.copy_lm_ids, workspace.states, lm_words, matrix
        )
        scores = best.score if words else matrix @ weight_vector(self.weights)
        offsets = best.offsets.tolist()
        known: dict[tuple[int, int, int, int], Phrase] = {}
        return [
            self._translation(words, Derivation(*(field[first:last] for field in best.phrases)), score, features, known)
            for first, last, score, features in zip(offsets, offsets[1:], scores.tolist(), matrix)
        ]

    def nbest_all(
        self, lines: Iterable[str], n: int, distinct: bool = False, threads: int = 1
    ) -> Iterator[list[Translation]]:
        """nbest of every line, in the manner of translate_all."""
        yield from map_ordered(lambda line: self.nbest(line, n, distinct), lines, threads)

    def translate_all(self, lines: Iterable[str], threads: int = 1) -> Iterator[Translation]:
        """Translations of `lines` in their order, each as soon as it and those before it are ready.

        What reading `lines` raises is raised here, after the
        translations of the lines before.
        """
        yield from map_ordered(self.translate, lines, threads)

    def _sentence(self, words: list[str]) -> Sentence:
        model = self.model
        return Sentence(model.source.ids(words), model.language_model.word_ids(words))

    def _decode(self, sentence: Sentence) -> Workspace:
        """Fill this thread's workspace with the options and the hypothesis graph of a sentence."""
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace(self.model, self.search, self.longest)
        workspace: Workspace = self._local.workspace
        tables, n_words = self.model.tables, sentence.words.size
        workspace.fit(n_words)
        self._n_decoded += 1
        if self._memory is not None and self._n_decoded % SENTENCES_BETWEEN_LOOKS == 0:
            let_go_beyond(self._memory, *tables.phrases, tables.ln_reordering, tables.lm.units)
        limit = self.search.table_limit
        while (
            fill_options(
                sentence, tables, self.weights, limit, workspace.candidates, workspace.states, workspace.options
            )
            == FULL
        ):
            workspace.grow_options()
        fill_future_cost(workspace.options, n_words, workspace.future)
        while (status := self._search(workspace, n_words)) != OK:
            workspace.grow(status)
        return workspace

    def _search(self, workspace: Workspace, n_words: int) -> int:
        states = workspace.states
        forget_states(states)
        states.work_context[0], states.work_backoffs[0], length = self.model.language_model.begin_state()
        intern_state(states, 0, length)  # as BEGIN_STATE, the first
        space = SearchSpace(
            workspace.options,
            workspace.future,
            self.model.tables.lm,
            self.model.tables.end_word,
            states,
            workspace.stacks,
            workspace.graph,
            workspace.places,
            self._limits,
        )
        if self.search.algorithm == "cube":
            return cube_search(space, workspace.queues, n_words)
        return search(space, n_words)

    def _best(self, workspace: Workspace, n_words: int) -> tuple[Derivation, float]:
        """The best derivation in the workspace's graph, and its score."""
        chosen = np.empty(n_words, np.int32)
        count = best_derivation(workspace.graph, n_words, chosen)
        chosen, options = chosen[:count], workspace.options
        derivation = Derivation(options.pair[chosen], options.begin[chosen], options.end[chosen])
        return derivation, float(workspace.graph.score[workspace.graph.stack_first[n_words]])

    def _features(self, derivation: Derivation, sentence: Sentence) -> np.ndarray:
        """float64[F] feature values, computed from the derivation alone."""
        phrases, states = self.model.tables.phrases, self._local.workspace.states
        known = derivation.pair[derivation.pair != COPY]
        n_target = int((phrases.target_offsets[known + 1] - phrases.target_offsets[known]).sum())
        n_target += derivation.pair.size - known.size
        vector = np.zeros(len(self.features.names()))
        lm_words = np.empty(n_target + 1, np.int32)
        fill_features(derivation, self.model.tables, sentence.copy_lm_ids, states, lm_words, vector)
        return vector

    def _copy_ids(self, words: list[str]) -> np.ndarray:
        """int32[n] target ids of the source words; equal numbers behind the vocabulary for equal words without one."""
        ids = self.model.target.ids(words)
        for i in np.flatnonzero(ids < 0):
            ids[i] = len(self.model.target) + words.index(words[i])
        return ids

    def _translation(
        self,
        words: list[str],
        derivation: Derivation,
        score: float,
        features: np.ndarray,
        known: dict[tuple[int, int, int, int], Phrase],
    ) -> Translation:
        """A derivation for people; `known` are phrases of the same sentence by pair, begin, end and target position."""
        phrases, position = [], 0
        for pair, begin, end in zip(*(field.tolist() for field in derivation)):
            key = pair, begin, end, position
            if key not in known:
                known[key] = self._phrase(words, *key)
            phrases.append(known[key])
            position = known[key].target_span[1]
        text = " ".join([phrase.target for phrase in phrases])
        return Translation(text, score, self.features.by_group(features), tuple(phrases))

    def _phrase(self, words: list[str], pair: int, begin: int, end: int, position: int) -> Phrase:
        table, vocabulary = self.model.tables.phrases, self.model.target
        if pair == COPY:
            target, points = words[begin:end], [(0, 0)]
        else:
            target = [vocabulary.word(i) for i in table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
            points = table.alignment_points[slice(*table.alignment_offsets[pair : pair + 2])].tolist()
        return Phrase(
            " ".join(words[begin:end]),
            " ".join(target),
            (begin, end),
            (position, position + len(target)),
            tuple((begin + i, position + j) for i, j in points),
            pair == COPY,
        )
