"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from decoder.config import Search, Weights
from decoder.derivation import Derivation, fill_features
from decoder.features.dense import LN10, FeatureNames, dense_weights, weight_vector
from decoder.features.language_model import NO_STATE, forget_states, intern_state
from decoder.future_cost import fill_future_cost
from decoder.hypothesis_graph import best_derivation
from decoder.model import Model, open_model
from decoder.options import COPY, FULL, fill_options
from decoder.ordered_map import map_ordered
from decoder.search import Limits, SearchSpace, search
from decoder.stacks import OK
from decoder.tables import Sentence
from decoder.translation import Phrase, Translation
from decoder.workspace import Workspace
from lm.corpus import split


class Decoder:
    """A model and the limits within which it is searched; any number of threads may share one."""

    def __init__(self, model: Model, search: Search | None = None, weights: Weights | None = None):
        """`weights` default to the model's own. Raises ModelError if they do not fit the model."""
        self.model = model
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
            limits.ln_beam_threshold,
            limits.distortion_limit,
            self.weights.distortion,
            self.weights.language_model * LN10,
        )
        self._local = threading.local()

    @classmethod
    def load(cls, directory: str | Path, search: Search | None = None, weights: Weights | None = None) -> "Decoder":
        """The decoder of the model in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_model(directory), search, weights)

    def translate(self, line: str) -> Translation:
        """The best translation of a tokenized sentence that the search finds."""
        words = split(line)
        sentence = self._sentence(words)
        derivation, score = self._best(self._decode(sentence), len(words))
        features = self._features(derivation, sentence)
        if not words:  # nothing was searched
            score = float(weight_vector(self.weights) @ features)
        phrases = tuple(self._phrases(words, derivation))
        text = " ".join(phrase.target for phrase in phrases)
        return Translation(text, score, self.features.by_group(features), phrases)

    def translate_all(self, lines: Iterable[str], threads: int = 1) -> Iterator[Translation]:
        """Translations of `lines` in their order, each as soon as it and those before it are ready.

        What reading `lines` raises is raised here, after the
        translations of the lines before.
        """
        yield from map_ordered(self.translate, lines, threads)

    def _sentence(self, words: list[str]) -> Sentence:
        model = self.model
        ids = model.source.ids(words)
        copies = model.source_lm_ids[ids] if len(model.source) else np.zeros(len(words), np.int32)
        unknown = np.flatnonzero(ids < 0)
        copies[unknown] = model.language_model.word_ids([words[i] for i in unknown])
        return Sentence(ids, copies)

    def _decode(self, sentence: Sentence) -> Workspace:
        """Fill this thread's workspace with the options and the hypothesis graph of a sentence."""
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace(self.model, self.search, self.longest)
        workspace: Workspace = self._local.workspace
        tables, n_words = self.model.tables, sentence.words.size
        workspace.fit(n_words)
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
        if intern_state(states, 0, length) == NO_STATE:
            raise AssertionError("no room for one state")
        space = SearchSpace(
            workspace.options,
            workspace.future,
            self.model.tables.lm,
            self.model.tables.end_word,
            states,
            workspace.stacks,
            workspace.graph,
            self._limits,
        )
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

    def _phrases(self, words: list[str], derivation: Derivation) -> Iterator[Phrase]:
        table, vocabulary, position = self.model.tables.phrases, self.model.target.words, 0
        for pair, begin, end in zip(*(field.tolist() for field in derivation)):
            if pair == COPY:
                target, points = words[begin:end], [(0, 0)]
            else:
                target = [vocabulary[i] for i in table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
                points = table.alignment_points[slice(*table.alignment_offsets[pair : pair + 2])].tolist()
            yield Phrase(
                " ".join(words[begin:end]),
                " ".join(target),
                (begin, end),
                (position, position + len(target)),
                tuple((begin + i, position + j) for i, j in points),
                pair == COPY,
            )
            position += len(target)
