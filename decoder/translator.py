"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from decoder.candidates import Lookup
from decoder.config import Search, Weights
from decoder.cube_pruning import cube_search
from decoder.derivation import Derivation, FeatureSpace, fill_feature_matrix
from decoder.extension import Limits, SearchSpace
from decoder.features.dense import LN10, dense_weights, feature_names, weight_vector
from decoder.features.hierarchical import forget_blocks
from decoder.features.language_model import begin_states
from decoder.features.pair import check_counts
from decoder.future_cost import fill_future_cost
from decoder.hypothesis_graph import best_derivation
from decoder.model import Model, open_model
from decoder.nbest import best_derivations
from decoder.options import FULL, fill_options
from decoder.ordered_map import map_ordered
from decoder.search import search
from decoder.source import Source, read_source
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
        self.model, self.memory, self._n_decoded = model, memory, 0
        self.search = search or Search()
        tables, given = model.tables, weights or model.weights
        check_counts(given, tables.phrases)
        layout = tables.phrases.ln_scores.shape[1], model.description.reordering, len(model.language_models)
        self.weights = dense_weights(given, *layout)
        self.features = feature_names(self.weights, given)
        self.tables = tables._replace(lms=tables.lms._replace(ln_weights=self.weights.language_model * LN10))
        self.longest = min(self.search.max_phrase_length, model.description.max_source_phrase_length)
        limits = self.search
        self._limits = Limits(
            limits.stack,
            limits.pop_limit,
            limits.ln_beam_threshold,
            limits.distortion_limit,
            self.weights.distortion,
            self.weights.early_distortion,
            tables.orientations.is_hierarchical,
            tables.orientations.keeps_blocks,
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
        source = read_source(split(line), self.model, self.longest)
        workspace = self._decode(source.sentence)
        derivation, score = self._best(workspace, len(source.words))
        features = np.zeros((1, len(self.features.names())))
        self._fill_features(workspace, derivation, np.array([0, derivation.pair.size]), source, features)
        if not source.words:  # nothing was searched
            score = float(weight_vector(self.weights, self.features) @ features[0])
        return self._translation(source, derivation, score, features[0], {})

    def nbest(self, line: str, n: int, distinct: bool = False) -> list[Translation]:
        """The `n` best derivations that the search kept, the first being that of translate(line).

        With `distinct`, the best derivation of each of the `n` best target strings. Fewer where there are not so many.
        Raises ConfigError unless n >= 1.
        """
        if n < 1:
            raise ConfigError(f"n is {n}, expected at least 1")
        source = read_source(split(line), self.model, self.longest)
        workspace = self._decode(source.sentence)
        best = best_derivations(workspace.graph, len(source.words), n, workspace.options, distinct)
        matrix = np.zeros((best.score.size, len(self.features.names())))
        self._fill_features(workspace, best.phrases, best.offsets, source, matrix)
        scores = best.score if source.words else matrix @ weight_vector(self.weights, self.features)
        offsets = best.offsets.tolist()
        known: dict[tuple[int, int, int, int], Phrase] = {}
        return [
            self._translation(source, Derivation(*(field[first:last] for field in best.phrases)), score, values, known)
            for first, last, score, values in zip(offsets, offsets[1:], scores.tolist(), matrix)
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

    def _decode(self, sentence: Sentence) -> Workspace:
        """Fill this thread's workspace with the options and the hypothesis graph of a sentence."""
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace(self.model, self.search, self.longest)
        workspace: Workspace = self._local.workspace
        n_words = sentence.words.size
        workspace.fit(sentence)
        self._n_decoded += 1
        if self.memory is not None and self._n_decoded % SENTENCES_BETWEEN_LOOKS == 0:
            tables = self.tables
            let_go_beyond(
                self.memory,
                *tables.phrases,
                tables.ln_reordering,
                *(one.model.tables.units for one in self.model.language_models),
            )
        while True:
            limit, candidates = self.search.table_limit, workspace.candidates
            lookup = Lookup(sentence, self.tables, self.weights, limit, candidates, workspace.states)
            if fill_options(lookup, workspace.options) != FULL:
                break
            workspace.grow_options()
        fill_future_cost(workspace.options, n_words, workspace.future)
        while (status := self._search(workspace, n_words)) != OK:
            workspace.grow(status)
        return workspace

    def _search(self, workspace: Workspace, n_words: int) -> int:
        forget_blocks(workspace.blocks)
        begin_states(self.tables.lms, workspace.states)
        space = SearchSpace(
            workspace.options,
            workspace.future,
            self.tables.lms,
            workspace.states,
            workspace.stacks,
            workspace.graph,
            workspace.blocks,
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

    def _fill_features(
        self, workspace: Workspace, phrases: Derivation, offsets: np.ndarray, source: Source, matrix: np.ndarray
    ) -> None:
        """Feature values of the derivations offsets[i]:offsets[i + 1] of `phrases`, computed from these alone."""
        n_phrases, longest_grouped = int(np.diff(offsets).max()), self.weights.by_length.shape[1] - 1
        space = FeatureSpace(
            workspace.states,
            workspace.blocks,
            self.features.optional_places(),
            longest_grouped,
            *workspace.new_target_room(n_phrases),
        )
        fill_feature_matrix(phrases, offsets, self.tables, source.sentence.own, space, matrix)

    def _translation(
        self,
        source: Source,
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
                known[key] = self._phrase(source, *key)
            phrases.append(known[key])
            position = known[key].target_span[1]
        text = " ".join([phrase.target for phrase in phrases if phrase.target])
        return Translation(text, score, self.features.by_group(features), tuple(phrases))

    def _phrase(self, source: Source, pair: int, begin: int, end: int, position: int) -> Phrase:
        table, vocabulary = self.model.tables.phrases, self.model.target
        if pair < 0:
            own = source.own[-1 - pair]
            target, points, is_copied = list(own.target), own.alignment, own.unknown != 0
        else:
            is_copied = False
            target = [vocabulary.word(i) for i in table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
            points = table.alignment_points[slice(*table.alignment_offsets[pair : pair + 2])].tolist()
        return Phrase(
            " ".join(source.words[begin:end]),
            " ".join(target),
            (begin, end),
            (position, position + len(target)),
            tuple((begin + i, position + j) for i, j in points),
            is_copied,
        )
