"""Sentences in, translations out: the decoder as the Python API and the commands use it."""

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.resident_memory import release_pages_above
from phrasebeam.decoder.features.dense import (
    LN10,
    UNKNOWN_WORD,
    active_groups,
    check_counts,
    dense_weights,
    feature_names,
)
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import Reading
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.input.target_constraint import NO_CONSTRAINT, TargetConstraint
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.model import Model, open_model
from phrasebeam.decoder.options.candidate_cache import NO_CACHE, clear_candidate_cache
from phrasebeam.decoder.options.candidates import Lookup
from phrasebeam.decoder.options.future_cost import fill_future_cost
from phrasebeam.decoder.options.score_checks import check_candidates, check_score
from phrasebeam.decoder.options.translation_options import FULL, fill_options
from phrasebeam.decoder.output.derivation_view import cached_target_words
from phrasebeam.decoder.output.lattice import Lattice
from phrasebeam.decoder.output.mbr import Mbr
from phrasebeam.decoder.output.nbest_table import NbestTable, nbest_table
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.cube_pruning import cube_search
from phrasebeam.decoder.search.extension import SearchParameters, SearchSpace
from phrasebeam.decoder.search.prefix import constrain, with_fallback_pairs
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence
from phrasebeam.decoder.search.search import NEVER, search, search_part
from phrasebeam.decoder.search.search_settings import Search
from phrasebeam.decoder.search.sentence_preparer import PreparerSettings, SentencePreparer
from phrasebeam.decoder.search.stacks import OK
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.sparse.sparse_features import only_groups
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.kernels.jit import direct
from phrasebeam.lm.text.corpus import split

SENTENCES_BETWEEN_LOOKS = 8  # at the memory of the process; one touches some 10 MB
TRANSLATION = Request()
_fill_options, _fill_future_cost = direct(fill_options), direct(fill_future_cost)
_search, _search_part, _cube_search = direct(search), direct(search_part), direct(cube_search)


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
        `folds` are needed for inputs that name one, see HeldOutPair.

        With `memory`, the pages of the model's files are let go of when the process holds more bytes than that.
        Raises ModelError if the weights do not fit the model.
        """
        self.model, self._n_decoded = model, 0
        self._memory = memory and memory - memory // 8  # between two looks it grows
        self.search, self.reading = search or Search(), reading or Reading()
        self.longest = min(self.search.max_phrase_length, model.description.max_source_phrase_length)
        self._local, self._changes = threading.local(), 0
        self._table_words = cached_target_words(model)
        self._weigh(weights or model.weights, model.tables.sparse.weights)
        self.preparer = SentencePreparer(model, self.tables, folds, self._preparer_settings())

    def reweigh(self, weights: Weights, sparse: SparseWeights | None = None) -> None:
        """Search by other weights from now on, with the memory that threads have; not while one translates.

        `sparse`: those of sparse features; without, they stay. Raises ModelError if `weights` do not fit the model.
        """
        self._weigh(weights, self.tables.sparse.weights if sparse is None else sparse)
        self.preparer.reweigh(self.tables, self._preparer_settings())
        self._changes += 1

    def _preparer_settings(self) -> PreparerSettings:
        return PreparerSettings(self.weights, self.longest, self.search.table_limit, self.reading)

    def _weigh(self, given: Weights, sparse_weights: SparseWeights) -> None:
        """Set all that depends on weights, but for the reader."""
        model, tables, parameters = self.model, self.model.tables, self.search
        check_counts(given, tables.phrases)
        layout = tables.phrases.ln_scores.shape[1], model.description.reordering, len(model.language_models)
        self.weights = dense_weights(given, *layout)
        self.features = feature_names(self.weights, given)
        sparse = only_groups(tables.sparse, active_groups(given, tables.sparse))._replace(weights=sparse_weights)
        lms = tables.lms._replace(ln_weights=self.weights.language_model * LN10)
        self.tables = tables._replace(lms=lms, sparse=sparse)
        self._parameters = SearchParameters(
            parameters.stack,
            parameters.pop_limit,
            parameters.ln_beam_threshold,
            parameters.distortion_limit,
            self.weights.distortion,
            self.weights.early_distortion,
            tables.orientations.is_hierarchical,
            tables.orientations.keeps_blocks,
            self.weights.sparse,
        )

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
        nbest = found.nbest(request.n, request.distinct, request.sparse) if request.n else []
        if request.mbr:
            translation = found.least_risk(request.mbr)
        else:
            translation = nbest[0] if nbest else found.best()
        lattice = found.lattice(request.lattice_beam) if request.lattice else None
        return Answer(translation, nbest, lattice)

    def answer_all(self, lines: Iterable[str | Input], request: Request, threads: int = 1) -> Iterator[Answer]:
        """The answer for every line, in the manner of translate_all."""
        yield from map_ordered(lambda line: self.answer(line, request), lines, threads)

    def nbest_all(
        self, lines: Iterable[str | Input], n: int, distinct: bool = False, threads: int = 1
    ) -> Iterator[list[Translation]]:
        """nbest of every line, in the manner of translate_all."""
        yield from map_ordered(lambda line: self.nbest(line, n, distinct), lines, threads)

    def nbest_tables(
        self, lines: Iterable[str | Input], n: int, distinct: bool = False, sparse: bool = False, threads: int = 1
    ) -> Iterator[NbestTable]:
        """nbest of every line as arrays, with sparse features by key if `sparse`, in the manner of translate_all."""

        def table(line: str | Input) -> NbestTable:
            found = self._find(line if isinstance(line, Input) else Input(split(line)))
            return nbest_table(found, n, distinct, sparse)

        yield from map_ordered(table, lines, threads)

    def translate_all(self, lines: Iterable[str | Input], threads: int = 1) -> Iterator[Translation]:
        """Translations of `lines` in their order, each as soon as it and those before it are ready.

        What reading `lines` raises is raised here, after the translations of the lines before.
        """
        yield from map_ordered(self.translate, lines, threads)

    def _find(self, given: Input) -> SearchResult:
        """Fill this thread's workspace with the hypothesis graph of a sentence.

        Only where no translation begins with the prefix are there fallback pairs for it.
        """
        source, prefix, model = self.preparer.read(given), given.prefix, self.preparer.model_for(given)
        if prefix.words and not source.words:
            source, _ = with_fallback_pairs(source, prefix, model)
        workspace = self.look_up(source)
        if not prefix.words or not source.words:
            self._decode(source, workspace, NO_CONSTRAINT)
            return self.found(source, workspace)
        constraint = constrain(prefix, source, workspace.options, np.zeros(len(source.synthetic)), self.model)
        if not self._decode(source, workspace, constraint):
            source, is_fallback = with_fallback_pairs(source, prefix, model)
            workspace = self.look_up(source)
            ln_penalty = self.weights.unknown_word_penalty * source.sentence.synthetic.unknown * is_fallback
            constraint = constrain(prefix, source, workspace.options, ln_penalty, self.model)
            self._decode(source, workspace, constraint)
        return self.found(source, workspace)

    def found(self, source: PreparedSentence, workspace: Workspace) -> SearchResult:
        """What a workspace holds for people, after a search."""
        return SearchResult(source, self.model, self.weights, self.features, self._table_words, workspace)

    def look_up(self, source: PreparedSentence) -> Workspace:
        """Fill this thread's workspace with the options of a sentence."""
        sentence = source.sentence
        local = self._local
        if not hasattr(local, "workspace"):
            local.workspace, local.changes = Workspace(self.model, self.search, self.longest), self._changes
        workspace: Workspace = local.workspace
        if local.changes != self._changes:
            clear_candidate_cache(workspace.candidates.cache)
            local.changes = self._changes
        workspace.fit(sentence)
        self._n_decoded += 1
        if self._memory is not None and self._n_decoded % SENTENCES_BETWEEN_LOOKS == 0:
            models = [one.model.tables.units for one in self.model.language_models]
            release_pages_above(self._memory, *self.tables.phrases, self.tables.ln_reordering, *models)
        while True:
            limit, candidates = self.search.table_limit, workspace.candidates
            if source.tables.origin is not None:  # what is known of frequent phrases is known of the model's tables
                candidates = candidates._replace(cache=NO_CACHE)
            lookup = Lookup(sentence, source.tables.tables, self.weights, limit, candidates, workspace.states)
            n_options = _fill_options(lookup, workspace.options)
            if n_options < 0:
                check_candidates(workspace.candidates, source.tables.tables)
            if n_options != FULL:
                break
            workspace.grow_options()
        _fill_future_cost(workspace.options, sentence.words.size, workspace.future)
        return workspace

    def _decode(self, source: PreparedSentence, workspace: Workspace, constraint: TargetConstraint) -> bool:
        """Search for translations that begin with what is required; whether there are any."""
        if constraint.ln_rest[0] == -np.inf:
            return False
        while (status := self._search(workspace, source, constraint)) != OK:
            workspace.grow(status)
        n_words, first = len(source.words), workspace.graph.stack_first
        if first[n_words] == first[n_words + 1]:
            return False
        check_score(float(workspace.graph.score[first[n_words]]))
        return True

    def _search(self, workspace: Workspace, source: PreparedSentence, constraint: TargetConstraint) -> int:
        space = self._space(workspace, source, constraint)
        if self.search.algorithm == "cube":
            return _cube_search(space, workspace.queues, len(source.words))
        return _search(space, len(source.words))

    def _space(self, workspace: Workspace, source: PreparedSentence, constraint: TargetConstraint) -> SearchSpace:
        space = self.search_space(source, workspace)
        if constraint is NO_CONSTRAINT:  # as the workspace has it
            return space
        return space._replace(
            states=workspace.states._replace(constraint=constraint),
            parameters=self._parameters._replace(ln_beam=self._parameters.ln_beam + self._allowance(constraint)),
        )

    def search_part(self, source: PreparedSentence, workspace: Workspace, n_words: int) -> None:
        """Fill the graph of a workspace that holds the sentence's options with translations of its first words alone.

        Where these are not the whole sentence, </s> does not follow, and the last stack is like all others.
        """
        if n_words == len(source.words):
            self._decode(source, workspace, NO_CONSTRAINT)
            return
        _fill_future_cost(workspace.options, n_words, workspace.future)
        while (status := _search_part(self._space(workspace, source, NO_CONSTRAINT), n_words, NEVER)) != OK:
            workspace.grow(status)

    def search_space(self, source: PreparedSentence, workspace: Workspace) -> SearchSpace:
        """What kernels search, in a workspace that holds the options of the sentence."""
        return SearchSpace(
            workspace.options,
            workspace.future,
            source.tables.tables.lms,
            workspace.states,
            workspace.stacks,
            workspace.graph,
            workspace.blocks,
            workspace.spans,
            source.sentence.zones,
            source.tables.tables.sparse,
            source.sentence.synthetic,
            workspace.histories,
            self._parameters,
        )

    def _allowance(self, constraint: TargetConstraint) -> float:
        """By how much a hypothesis may be worse than the threshold allows.

        The better one may yet have to make up a word, where the worse one can translate.
        """
        return min(0.0, UNKNOWN_WORD * self.weights.unknown_word_penalty) if constraint.allowed.size else 0.0
