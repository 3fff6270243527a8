"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from decoder.answer import Answer, Request
from decoder.candidates import Lookup
from decoder.config import Mbr, Reading, Search, Weights
from decoder.cube_pruning import cube_search
from decoder.derivation import Derivation, FeatureSpace, fill_feature_matrix
from decoder.extension import Limits, SearchSpace
from decoder.features.dense import LN10, UNKNOWN_WORD, dense_weights, feature_names, weight_vector
from decoder.features.hierarchical import forget_blocks
from decoder.features.language_model import begin_states
from decoder.features.pair import check_counts
from decoder.frequent import NO_FREQUENT
from decoder.future_cost import fill_future_cost
from decoder.hypothesis_graph import HypothesisGraph, best_derivation
from decoder.input import Input, Prefix
from decoder.lattice import Lattice, build_lattice, connected
from decoder.lm_folds import Fold
from decoder.mbr import choose, texts_of
from decoder.model import Model, open_model
from decoder.nbest import Derivations, best_derivations
from decoder.options import FULL, fill_options
from decoder.ordered_map import map_ordered
from decoder.prefix import require, with_made_up
from decoder.reader import Reader, ReaderSettings
from decoder.required import NOTHING, Required
from decoder.search import search
from decoder.sentence_tables import original_pairs
from decoder.source import Source
from decoder.stacks import OK
from decoder.translation import Phrase, Translation
from decoder.workspace import Workspace
from lm.corpus import split
from lm.resident import let_go_beyond

SENTENCES_BETWEEN_LOOKS = 8  # at the memory of the process; one touches some 10 MB
TRANSLATION = Request()


class Found(NamedTuple):
    """What a search leaves behind, until the thread's next one."""

    source: Source
    workspace: Workspace


class Decoder:
    """A model and the limits within which it is searched; any number of threads may share one."""

    def __init__(
        self,
        model: Model,
        search: Search | None = None,
        weights: Weights | None = None,
        memory: int | None = None,
        reading: Reading | None = None,
        folds: Sequence[Fold] = (),
    ):
        """`weights` default to the model's own; of `reading` the treatment of unknown words counts, not the markup.
        `folds` are needed for inputs that name one, see LeftOut.

        With `memory`, the pages of the model's files are let go of when the process holds more bytes than that.
        Raises ModelError if the weights do not fit the model.
        """
        self.model, self._n_decoded = model, 0
        self._memory = memory and memory - memory // 8  # between two looks it grows
        self.search, self.reading = search or Search(), reading or Reading()
        tables, given = model.tables, weights or model.weights
        check_counts(given, tables.phrases)
        layout = tables.phrases.ln_scores.shape[1], model.description.reordering, len(model.language_models)
        self.weights = dense_weights(given, *layout)
        self.features = feature_names(self.weights, given)
        self.tables = tables._replace(lms=tables.lms._replace(ln_weights=self.weights.language_model * LN10))
        self.longest = min(self.search.max_phrase_length, model.description.max_source_phrase_length)
        settings = ReaderSettings(self.weights, self.longest, self.search.table_limit, self.reading)
        self.reader = Reader(model, self.tables, folds, settings)
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
        reading: Reading | None = None,
    ) -> "Decoder":
        """The decoder of the model in `directory`. Raises SmtError, naming the file at fault."""
        return cls(open_model(directory), search, weights, memory, reading)

    def translate(self, line: str | Input) -> Translation:
        """The best translation of a tokenized sentence that the search finds.

        A string is plain text; read_markup makes an Input of a line with markup.
        """
        return self.answer(line).translation

    def complete(self, line: str | Input, prefix: str, partial_word: bool = False) -> Translation:
        """The best translation that begins with the tokenized `prefix`, any words whatever; see Prefix.read."""
        given = line if isinstance(line, Input) else Input(split(line))
        return self.translate(replace(given, prefix=Prefix.read(prefix, partial_word)))

    def nbest(self, line: str | Input, n: int, distinct: bool = False) -> list[Translation]:
        """The `n` best derivations that the search kept, the first being that of translate(line).

        With `distinct`, the best derivation of each of the `n` best target strings. Fewer where there are not so many.
        Raises ConfigError unless n >= 1.
        """
        return self.answer(line, Request(n, distinct)).nbest

    def mbr(self, line: str | Input, settings: Mbr | None = None) -> Translation:
        """The translation of least Bayes risk: in its distinct n-best list that with the largest expected BLEU."""
        return self.answer(line, Request(mbr=settings or Mbr())).translation

    def lattice(self, line: str | Input, beam: float = math.inf) -> Lattice:
        """All derivations that the search kept, or what lies on those that score at most `beam` below the best.

        Raises ConfigError unless beam >= 0.
        """
        lattice = self.answer(line, Request(lattice=True, lattice_beam=beam)).lattice
        return cast(Lattice, lattice)

    def answer(self, line: str | Input, request: Request = TRANSLATION) -> Answer:
        """All that `request` wants of a tokenized sentence, from one search."""
        found = self._find(line if isinstance(line, Input) else Input(split(line)))
        nbest = self._nbest(found, request.n, request.distinct) if request.n else []
        if request.mbr:
            translation = self._least_risk(found, request.mbr)
        else:
            translation = nbest[0] if nbest else self._best(found)
        lattice = self._lattice(found, request.lattice_beam) if request.lattice else None
        return Answer(translation, nbest, lattice)

    def answer_all(self, lines: Iterable[str | Input], request: Request, threads: int = 1) -> Iterator[Answer]:
        """The answer for every line, in the manner of translate_all."""
        yield from map_ordered(lambda line: self.answer(line, request), lines, threads)

    def nbest_all(
        self, lines: Iterable[str | Input], n: int, distinct: bool = False, threads: int = 1
    ) -> Iterator[list[Translation]]:
        """nbest of every line, in the manner of translate_all."""
        yield from map_ordered(lambda line: self.nbest(line, n, distinct), lines, threads)

    def translate_all(self, lines: Iterable[str | Input], threads: int = 1) -> Iterator[Translation]:
        """Translations of `lines` in their order, each as soon as it and those before it are ready.

        What reading `lines` raises is raised here, after the translations of the lines before.
        """
        yield from map_ordered(self.translate, lines, threads)

    def _find(self, given: Input) -> Found:
        """Fill this thread's workspace with the hypothesis graph of a sentence.

        Only where no translation begins with the prefix are parts of it made up.
        """
        source, prefix, model = self.reader.read(given), given.prefix, self.reader.model_for(given)
        if prefix.words and not source.words:
            source, _ = with_made_up(source, prefix, model)
        workspace = self.look_up(source)
        if not prefix.words or not source.words:
            self._decode(source, workspace, NOTHING)
            return Found(source, workspace)
        required = require(prefix, source, workspace.options, np.zeros(len(source.own)), self.model)
        if not self._decode(source, workspace, required):
            source, is_made_up = with_made_up(source, prefix, model)
            workspace = self.look_up(source)
            ln_penalty = self.weights.unknown_word_penalty * source.sentence.own.unknown * is_made_up
            required = require(prefix, source, workspace.options, ln_penalty, self.model)
            self._decode(source, workspace, required)
        return Found(source, workspace)

    def look_up(self, source: Source) -> Workspace:
        """Fill this thread's workspace with the options of a sentence."""
        sentence = source.sentence
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace(self.model, self.search, self.longest)
        workspace: Workspace = self._local.workspace
        workspace.fit(sentence)
        self._n_decoded += 1
        if self._memory is not None and self._n_decoded % SENTENCES_BETWEEN_LOOKS == 0:
            models = [one.model.tables.units for one in self.model.language_models]
            let_go_beyond(self._memory, *self.tables.phrases, self.tables.ln_reordering, *models)
        while True:
            limit, candidates = self.search.table_limit, workspace.candidates
            if source.tables.origin is not None:  # what is known of frequent phrases is known of the model's tables
                candidates = candidates._replace(frequent=NO_FREQUENT)
            lookup = Lookup(sentence, source.tables.tables, self.weights, limit, candidates, workspace.states)
            if fill_options(lookup, workspace.options) != FULL:
                break
            workspace.grow_options()
        fill_future_cost(workspace.options, sentence.words.size, workspace.future)
        return workspace

    def _decode(self, source: Source, workspace: Workspace, required: Required) -> bool:
        """Search for translations that begin with what is required; whether there are any."""
        if required.ln_rest[0] == -np.inf:
            return False
        while (status := self._search(workspace, source, required)) != OK:
            workspace.grow(status)
        n_words, first = len(source.words), workspace.graph.stack_first
        return bool(first[n_words] < first[n_words + 1])

    def _search(self, workspace: Workspace, source: Source, required: Required) -> int:
        forget_blocks(workspace.blocks)
        space = self.search_space(source, workspace)
        space = space._replace(
            states=workspace.states._replace(required=required),
            limits=self._limits._replace(ln_beam=self._limits.ln_beam + self._allowance(required)),
        )
        begin_states(space.lms, space.states)
        if self.search.algorithm == "cube":
            return cube_search(space, workspace.queues, len(source.words))
        return search(space, len(source.words))

    def search_space(self, source: Source, workspace: Workspace) -> SearchSpace:
        """What kernels search, in a workspace that holds the options of the sentence."""
        return SearchSpace(
            workspace.options,
            workspace.future,
            source.tables.tables.lms,
            workspace.states,
            workspace.stacks,
            workspace.graph,
            workspace.blocks,
            workspace.places,
            source.sentence.zones,
            self._limits,
        )

    def _allowance(self, required: Required) -> float:
        """By how much a hypothesis may be worse than the threshold allows.

        The better one may yet have to make up a word, where the worse one can translate.
        """
        return min(0.0, UNKNOWN_WORD * self.weights.unknown_word_penalty) if required.allowed.size else 0.0

    def _best(self, found: Found) -> Translation:
        """The best derivation in the graph; of an empty sentence what was typed, if anything was."""
        n_words, graph, options = len(found.source.words), found.workspace.graph, found.workspace.options
        if n_words == 0:
            size = len(found.source.own)
            nothing = np.zeros(size, np.int32)
            return self._one(found, Derivation(-1 - np.arange(size), nothing, nothing), math.nan)
        chosen = np.empty(n_words, np.int32)
        chosen = chosen[: best_derivation(graph, n_words, chosen)]
        derivation = Derivation(options.pair[chosen], options.begin[chosen], options.end[chosen])
        return self._one(found, derivation, float(graph.score[graph.stack_first[n_words]]))

    def _one(self, found: Found, derivation: Derivation, score: float) -> Translation:
        features = np.zeros((1, len(self.features.names())))
        self.fill_features(found, derivation, np.array([0, derivation.pair.size]), features)
        if not found.source.words:  # nothing was searched
            score = float(weight_vector(self.weights, self.features) @ features[0])
        return self.translation(found.source, derivation, score, features[0], {})

    def _nbest(self, found: Found, n: int, distinct: bool) -> list[Translation]:
        if not found.source.words:
            return [self._best(found)]
        best = self._derivations(found, n, distinct)
        matrix = np.zeros((best.score.size, len(self.features.names())))
        self.fill_features(found, best.phrases, best.offsets, matrix)
        known: dict[tuple[int, int, int, int], Phrase] = {}
        return [
            self.translation(found.source, best.derivation(i), score, values, known)
            for i, (score, values) in enumerate(zip(best.score.tolist(), matrix))
        ]

    def _derivations(self, found: Found, n: int, distinct: bool) -> Derivations:
        workspace = found.workspace
        return best_derivations(workspace.graph, len(found.source.words), n, workspace.options, distinct)

    def _least_risk(self, found: Found, settings: Mbr) -> Translation:
        if not found.source.words:
            return self._best(found)
        best = self._derivations(found, settings.size, distinct=True)
        chosen = choose(texts_of(best, found.workspace.options), best.score, settings)
        return self._one(found, best.derivation(chosen), float(best.score[chosen]))

    def _lattice(self, found: Found, beam: float) -> Lattice:
        return self.lattice_of(found, found.workspace.graph, len(found.source.words), beam)

    def lattice_of(self, found: Found, graph: HypothesisGraph, n_words: int, beam: float = math.inf) -> Lattice:
        """All derivations of the first `n_words` words in a graph of the sentence, or those within the beam."""
        source, options = found.source, found.workspace.options
        part = connected(graph, n_words, beam)
        chosen, place = np.unique(graph.edge_option[part.edge], return_inverse=True)
        begin, end = options.begin[chosen], options.end[chosen]
        pairs = original_pairs(options.pair[chosen], source.tables.origin)
        texts = [" ".join(self._target(source, pair)) for pair in pairs.tolist()]
        target = [texts[i] for i in place.tolist()]
        score = float(graph.score[graph.stack_first[n_words]]) if source.words else self._best(found).score
        return build_lattice(source.words, score, graph, part, (begin[place], end[place]), target)

    def fill_features(
        self, found: Found, phrases: Derivation, offsets: np.ndarray, matrix: np.ndarray, is_complete: bool = True
    ) -> None:
        """Feature values of the derivations offsets[i]:offsets[i + 1] of `phrases`, computed from these alone.

        They are translations of the whole sentence, unless they are not `is_complete`.
        """
        workspace = found.workspace
        n_phrases, longest_grouped = int(np.diff(offsets).max()), self.weights.by_length.shape[1] - 1
        space = FeatureSpace(
            workspace.states,
            workspace.blocks,
            self.features.optional_places(),
            longest_grouped,
            *workspace.new_target_room(n_phrases),
            is_complete,
        )
        source = found.source
        fill_feature_matrix(phrases, offsets, source.tables.tables, source.sentence.own, space, matrix)

    def translation(
        self,
        source: Source,
        derivation: Derivation,
        score: float,
        features: np.ndarray,
        known: dict[tuple[int, int, int, int], Phrase],
    ) -> Translation:
        """A derivation for people; `known` are phrases of the same sentence by pair, begin, end and target position."""
        phrases, position = [], 0
        pairs = original_pairs(derivation.pair, source.tables.origin)
        for pair, begin, end in zip(*(field.tolist() for field in derivation._replace(pair=pairs))):
            key = pair, begin, end, position
            if key not in known:
                known[key] = self._phrase(source, *key)
            phrases.append(known[key])
            position = known[key].target_span[1]
        text = " ".join([phrase.target for phrase in phrases if phrase.target])
        return Translation(text, score, self.features.by_group(features), tuple(phrases))

    def _phrase(self, source: Source, pair: int, begin: int, end: int, position: int) -> Phrase:
        table, target = self.model.tables.phrases, self._target(source, pair)
        if pair < 0:
            own = source.own[-1 - pair]
            points, is_copied = own.alignment, own.unknown != 0 and list(own.target) == source.words[begin:end]
            is_made_up = own.unknown != 0 and bool(target) and not is_copied
        else:
            is_copied = is_made_up = False
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

    def _target(self, source: Source, pair: int) -> list[str]:
        """Target words of a pair; a negative one is the sentence's own."""
        if pair < 0:
            own = source.own[-1 - pair]
            return [own.shown] if own.shown else list(own.target)
        table, vocabulary = self.model.tables.phrases, self.model.target
        return [vocabulary.word(i) for i in table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
