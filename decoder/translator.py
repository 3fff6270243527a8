"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from decoder.candidates import Lookup
from decoder.config import Search, Weights
from decoder.cube_pruning import cube_search
from decoder.derivation import Derivation, fill_feature_matrix
from decoder.extension import Limits, SearchSpace
from decoder.features.dense import LN10, UNKNOWN_WORD, FeatureNames, dense_weights, weight_vector
from decoder.features.language_model import begin_states
from decoder.future_cost import fill_future_cost
from decoder.hypothesis_graph import best_derivation
from decoder.model import Model, open_model
from decoder.nbest import best_derivations
from decoder.options import FULL, fill_options
from decoder.ordered_map import map_ordered
from decoder.prefix import NO_PREFIX, Prefix, paired, require, with_made_up
from decoder.required import NOTHING, Required
from decoder.search import search
from decoder.source import Source, read_source
from decoder.stacks import OK
from decoder.tables import Sentence
from decoder.translation import Phrase, Translation
from decoder.workspace import Workspace
from lm.corpus import split
from lm.errors import ConfigError


class Decoder:
    """A model and the limits within which it is searched; any number of threads may share one."""

    def __init__(self, model: Model, search: Search | None = None, weights: Weights | None = None):
        """`weights` default to the model's own. Raises ModelError if they do not fit the model."""
        self.model = model
        self.search = search or Search()
        tables = model.tables
        self.weights = dense_weights(
            weights or model.weights,
            tables.phrases.ln_scores.shape[1],
            model.description.reordering,
            len(model.language_models),
        )
        lms = tables.lms._replace(ln_weights=self.weights.language_model * LN10)
        self.tables = tables._replace(lms=lms)
        self.longest = min(self.search.max_phrase_length, model.description.max_source_phrase_length)
        self.features = FeatureNames(
            self.weights.translation.size, self.weights.reordering.size, self.weights.language_model.size
        )
        limits = self.search
        self._limits = Limits(
            limits.stack,
            limits.pop_limit,
            limits.ln_beam_threshold,
            limits.distortion_limit,
            self.weights.distortion,
        )
        self._local = threading.local()

    @classmethod
    def load(cls, directory: str | Path, search: Search | None = None, weights: Weights | None = None) -> "Decoder":
        """The decoder of the model in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_model(directory), search, weights)

    def translate(self, line: str, prefix: Prefix = NO_PREFIX) -> Translation:
        """The best translation of a tokenized sentence that the search finds, among those that begin with `prefix`."""
        source, workspace = self._find(line, prefix)
        if not source.words:
            return self._unsearched(source, workspace)
        derivation, score = self._best(workspace, len(source.words))
        features = np.zeros((1, len(self.features.names())))
        self._fill_features(workspace, derivation, np.array([0, derivation.pair.size]), source, features)
        return self._translation(source, derivation, score, features[0], {})

    def complete(self, line: str, prefix: str, partial_word: bool = False) -> Translation:
        """The best translation that begins with the tokenized `prefix`, any words whatever; see Prefix.read."""
        return self.translate(line, Prefix.read(prefix, partial_word))

    def nbest(self, line: str, n: int, distinct: bool = False, prefix: Prefix = NO_PREFIX) -> list[Translation]:
        """The `n` best derivations that the search kept, the first being that of translate(line, prefix).

        With `distinct`, the best derivation of each of the `n` best target strings. Fewer where there are not so many.
        Raises ConfigError unless n >= 1.
        """
        if n < 1:
            raise ConfigError(f"n is {n}, expected at least 1")
        source, workspace = self._find(line, prefix)
        if not source.words:
            return [self._unsearched(source, workspace)]
        best = best_derivations(workspace.graph, len(source.words), n, workspace.options, distinct)
        matrix = np.zeros((best.score.size, len(self.features.names())))
        self._fill_features(workspace, best.phrases, best.offsets, source, matrix)
        offsets = best.offsets.tolist()
        known: dict[tuple[int, int, int, int], Phrase] = {}
        return [
            self._translation(source, Derivation(*(field[first:last] for field in best.phrases)), score, values, known)
            for first, last, score, values in zip(offsets, offsets[1:], best.score.tolist(), matrix)
        ]

    def nbest_all(
        self,
        lines: Iterable[str],
        n: int,
        distinct: bool = False,
        threads: int = 1,
        prefixes: Iterable[Prefix] | None = None,
    ) -> Iterator[list[Translation]]:
        """nbest of every line, in the manner of translate_all."""
        yield from map_ordered(lambda pair: self.nbest(pair[0], n, distinct, pair[1]), paired(lines, prefixes), threads)

    def translate_all(
        self, lines: Iterable[str], threads: int = 1, prefixes: Iterable[Prefix] | None = None
    ) -> Iterator[Translation]:
        """Translations of `lines` in their order, each as soon as it and those before it are ready.

        `prefixes`, where given, are as many. What reading them or `lines` raises is raised here, after the translations
        of the lines before.
        """
        yield from map_ordered(lambda pair: self.translate(*pair), paired(lines, prefixes), threads)

    def _find(self, line: str, prefix: Prefix) -> tuple[Source, Workspace]:
        """Fill this thread's workspace with the hypothesis graph of a sentence.

        Only where no translation begins with the prefix are parts of it made up.
        """
        source = read_source(split(line), self.model, self.longest)
        workspace = self._look_up(source.sentence)
        if not prefix.words:
            self._decode(workspace, source, NOTHING)
            return source, workspace
        required = require(prefix, source, workspace.options, np.zeros(len(source.own)), self.model)
        if not self._decode(workspace, source, required):
            source, is_made_up = with_made_up(source, prefix, self.longest, self.model)
            workspace = self._look_up(source.sentence)
            ln_penalty = self.weights.unknown_word_penalty * source.sentence.own.unknown * is_made_up
            required = require(prefix, source, workspace.options, ln_penalty, self.model)
            self._decode(workspace, source, required)
        return source, workspace

    def _look_up(self, sentence: Sentence) -> Workspace:
        """Fill this thread's workspace with the options of a sentence."""
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace(self.model, self.search, self.longest)
        workspace: Workspace = self._local.workspace
        workspace.fit(sentence)
        while True:
            limit, candidates = self.search.table_limit, workspace.candidates
            lookup = Lookup(sentence, self.tables, self.weights, limit, candidates, workspace.states)
            if fill_options(lookup, workspace.options) != FULL:
                break
            workspace.grow_options()
        fill_future_cost(workspace.options, sentence.words.size, workspace.future)
        return workspace

    def _decode(self, workspace: Workspace, source: Source, required: Required) -> bool:
        """Search for translations that begin with what is required; whether there are any."""
        n_words = len(source.words)
        if required.ln_rest[0] == -np.inf:
            return False
        while (status := self._search(workspace, n_words, required)) != OK:
            workspace.grow(status)
        return bool(workspace.graph.stack_first[n_words] < workspace.graph.stack_first[n_words + 1])

    def _search(self, workspace: Workspace, n_words: int, required: Required) -> int:
        states = workspace.states._replace(required=required)
        begin_states(self.tables.lms, states)
        space = SearchSpace(
            workspace.options,
            workspace.future,
            self.tables.lms,
            states,
            workspace.stacks,
            workspace.graph,
            workspace.places,
            self._limits._replace(ln_beam=self._limits.ln_beam + self._allowance(required)),
        )
        if self.search.algorithm == "cube":
            return cube_search(space, workspace.queues, n_words)
        return search(space, n_words)

    def _allowance(self, required: Required) -> float:
        """By how much a hypothesis may be worse than the threshold allows.

        The better one may yet have to make up a word, where the worse one can translate.
        """
        return min(0.0, UNKNOWN_WORD * self.weights.unknown_word_penalty) if required.allowed.size else 0.0

    def _unsearched(self, source: Source, workspace: Workspace) -> Translation:
        """The translation of an empty sentence: what was typed, if anything was."""
        n_pairs = len(source.own)
        derivation = Derivation(-1 - np.arange(n_pairs), np.zeros(n_pairs, np.int32), np.zeros(n_pairs, np.int32))
        features = np.zeros((1, len(self.features.names())))
        self._fill_features(workspace, derivation, np.array([0, n_pairs]), source, features)
        return self._translation(source, derivation, float(weight_vector(self.weights) @ features[0]), features[0], {})

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
        scratch = workspace.new_scratch(int(np.diff(offsets).max()))
        fill_feature_matrix(phrases, offsets, self.tables, source.sentence.own, scratch, matrix)

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
        table, vocabulary = self.model.tables.phrases, self.model.target.words
        if pair < 0:
            own = source.own[-1 - pair]
            target, points = list(own.target), own.alignment
            is_copied = own.unknown != 0 and target == source.words[begin:end]
            is_made_up = own.unknown != 0 and not is_copied
        else:
            is_copied = is_made_up = False
            target = [vocabulary[i] for i in table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
            points = table.alignment_points[slice(*table.alignment_offsets[pair : pair + 2])].tolist()
        return Phrase(
            " ".join(source.words[begin:end]),
            " ".join(target),
            (begin, end),
            (position, position + len(target)),
            tuple((begin + i, position + j) for i, j in points),
            is_copied,
            is_made_up,
        )
