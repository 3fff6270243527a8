"""The search of one sentence: its options, and the hypothesis graph of its translations, in a borrowed workspace."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.features.dense import UNKNOWN_WORD
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.decoder.input.target_constraint import NO_CONSTRAINT, TargetConstraint
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.candidate_cache import NO_CACHE
from phrasebeam.decoder.options.candidates import Lookup, with_room
from phrasebeam.decoder.options.future_cost import fill_future_cost
from phrasebeam.decoder.options.score_checks import check_candidates, check_language_models, too_large
from phrasebeam.decoder.options.translation_options import FULL, fill_options
from phrasebeam.decoder.search.cube_pruning import cube_search
from phrasebeam.decoder.search.extension import SearchSpace
from phrasebeam.decoder.search.prefix import constrain, with_fallback_pairs
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stack_search import NEVER, search
from phrasebeam.decoder.search.stacks import OK, STOPPED, WRONG_SCORE
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.kernels.jit import direct

MOST_SHOWN = 60  # characters of a sentence in messages
_fill_options, _fill_future_cost = direct(fill_options), direct(fill_future_cost)
_search, _cube_search = direct(search), direct(cube_search)


class SentenceSearch:
    """The search of one prepared sentence with one snapshot of the weights, until its workspace is returned."""

    def __init__(
        self,
        model: Model,
        settings: SearchSettings,
        snapshot: WeightSnapshot,
        workspace: Workspace,
        source: PreparedSentence,
    ):
        """The workspace has adopted the snapshot, and no other thread uses the workspace."""
        self.model, self.settings, self.snapshot = model, settings, snapshot
        self._workspace, self._has_ended = workspace, False
        self.stop = StopFlag()  # to stop the search, a caller sets its own flag here before `run`
        self._take(source)

    def _take(self, source: PreparedSentence) -> None:
        self._source = source
        self._workspace.fit(source.sentence)

    def end(self) -> None:
        """Give up the workspace: from now on it may hold another sentence."""
        self._has_ended = True

    def check(self) -> None:
        """Raise RuntimeError if the search has ended."""
        if self._has_ended:
            raise RuntimeError("the search has ended, and its workspace was returned; read its result before that")

    @property
    def source(self) -> PreparedSentence:
        """The sentence, whose own tables lie in the workspace. Raises RuntimeError once the search has ended."""
        self.check()
        return self._source

    @property
    def workspace(self) -> Workspace:
        """The borrowed workspace. Raises RuntimeError once the search has ended."""
        self.check()
        return self._workspace

    def run(self, prefix: Prefix) -> None:
        """Fill the graph with translations that begin with the prefix.

        If there are none, the sentence gets fallback pairs for the prefix. Raises ModelError if the model is damaged
        where the sentence uses it.
        """
        if prefix.words and not self.source.words:
            self._take(with_fallback_pairs(self.source, prefix, self.model)[0])
        self.look_up()
        self.stop.check()
        if not prefix.words or not self.source.words:
            found = self._fill_graph(NO_CONSTRAINT)
        else:
            found = self._fill_graph(self._constraint(prefix, np.zeros(len(self.source.synthetic))))
        if not found and prefix.words:
            source, is_fallback = with_fallback_pairs(self.source, prefix, self.model)
            self._take(source)
            self.look_up()
            ln_unknown = self.snapshot.dense.unknown_word_penalty * source.sentence.synthetic.unknown
            found = self._fill_graph(self._constraint(prefix, ln_unknown * is_fallback))
        if not found:
            sentence = " ".join(self.source.words)[:MOST_SHOWN]
            raise ConfigError(f"{sentence!r} has no translation within the search limits; raise the limits")

    def run_part(self, n_words: int) -> None:
        """Fill the graph with translations of the first `n_words` words alone; their options must have been looked up.

        If these are not the whole sentence, </s> does not follow, and the last stack is like all others.
        """
        if n_words == len(self.source.words):
            self._fill_graph(NO_CONSTRAINT)
            return
        self._fill_future_cost(n_words)
        self._repeat(lambda: _search(self.space(), n_words, NEVER))

    def look_up(self) -> None:
        """Fill the workspace with the translation options of the sentence, and their future costs."""
        workspace = self.workspace
        while True:
            lookup = self.lookup()
            n_options = _fill_options(lookup, workspace.options)
            if n_options < 0:
                check_candidates(lookup, self.model.language_models)
            if n_options != FULL:
                break
            workspace.grow_options()
        self._fill_future_cost(self.source.sentence.words.size)

    def lookup(self) -> Lookup:
        """The arrays and parameters with which kernels look up the options."""
        workspace, sentence, tables = self.workspace, self.source.sentence, self.source.tables.tables
        candidates, limit = workspace.candidates, self.settings.table_limit
        n_synthetic = len(self.source.synthetic)
        if self.source.tables.origin is not None:  # the cache is only for the model's tables
            candidates = candidates._replace(cache=NO_CACHE)
        if self.source.own_model is not None:  # this model may have more pairs of a phrase
            most = int(np.diff(tables.phrases.pair_offsets).max(initial=0))
            candidates = with_room(candidates, most, n_synthetic)
        if self.source.lattice is not None:  # the limit applied to each path, and a span can have any number of paths
            most = int(np.diff(tables.phrases.pair_offsets[sentence.paths.of_span]).max(initial=0))
            candidates, limit = with_room(candidates, most, n_synthetic), 0
        return Lookup(
            sentence=sentence,
            tables=tables,
            weights=self.snapshot.dense,
            ranking=self.snapshot.ranking,
            limit=limit,
            candidates=candidates,
            states=workspace.states,
            memory=workspace.memory,
            columns=self.snapshot.parameters.columns,
        )

    def _fill_future_cost(self, n_words: int) -> None:
        _fill_future_cost(self.workspace.options, n_words, self.settings.future_cost, self.workspace.future)

    def space(self, constraint: TargetConstraint = NO_CONSTRAINT) -> SearchSpace:
        """The arrays and parameters that kernels search, once the options have been looked up."""
        workspace, states, parameters = self.workspace, self.workspace.states, self.snapshot.parameters
        if constraint is not NO_CONSTRAINT:
            states = states._replace(constraint=constraint)
            parameters = parameters._replace(ln_beam=parameters.ln_beam + self._allowance(constraint))
        return SearchSpace(
            tables=self.source.tables.tables,
            sentence=self.source.sentence,
            weights=self.snapshot.dense,
            parameters=parameters,
            options=workspace.options,
            future=workspace.future,
            states=states,
            histories=workspace.histories,
            memory=workspace.memory,
            stacks=workspace.stacks,
            graph=workspace.graph,
            spans=workspace.spans,
            stop=self.stop.array,
        )

    def _constraint(self, prefix: Prefix, ln_penalty: np.ndarray) -> TargetConstraint:
        return constrain(prefix, self.source, self.workspace.options, ln_penalty, self.model)

    def _allowance(self, constraint: TargetConstraint) -> float:
        """Score (at most 0) by which the beam threshold is relaxed for a `constraint`.

        A better hypothesis may still have to make up a word that a worse one can translate.
        """
        return min(0.0, UNKNOWN_WORD * self.snapshot.dense.unknown_word_penalty) if constraint.allowed.size else 0.0

    def _fill_graph(self, constraint: TargetConstraint) -> bool:
        """Search for translations that obey the constraint; return whether there are any."""
        if constraint.ln_rest[0] == -np.inf:
            return False
        n_words = len(self.source.words)
        self._repeat(lambda: self._search_once(constraint, n_words))
        first, end = self.workspace.graph.stack_first[n_words : n_words + 2].tolist()
        return bool(first < end)

    def _repeat(self, attempt: Callable[[], int]) -> None:
        """Run `attempt` until the workspace is large enough.

        Raises ModelError if a hypothesis has no valid score, InterruptedError if the search was stopped.
        """
        while (status := attempt()) != OK:
            if status == STOPPED:
                self.stop.check()
            if status == WRONG_SCORE:
                self.refuse(*self.workspace.stacks.wrong.tolist())
            self.workspace.grow(status)

    def refuse(self, node: int, option: int) -> NoReturn:
        """Raise ModelError for the hypothesis of `option` after `node`, whose score is not finite or absurd."""
        options, states, graph = self.workspace.options, self.workspace.states, self.workspace.graph
        first, end = options.target_first[options.target[option] :][:2]
        state, texts = graph.lm_state[node], []
        for number, one in enumerate(self.model.language_models):
            column, length = states.first[number], states.length[state, number]
            before = states.context[state, column : column + length][::-1]
            begin = bool(length) and int(before[0]) == one.model.begin
            texts.append((np.r_[before[begin:], options.lm_words[first:end, number], one.model.end], begin))
        check_language_models(self.model.language_models, texts)
        raise ModelError(f"{too_large(self.source.tables.tables)}; {TRAIN_AGAIN}")

    def _search_once(self, constraint: TargetConstraint, n_words: int) -> int:
        if self.settings.algorithm == "cube":
            return _cube_search(self.space(constraint), self.workspace.queues, n_words)
        return _search(self.space(constraint), n_words, n_words)
