"""Forced decoding of one sentence pair: the lattice of its y-good derivations, and their scores."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.language_model import begin_states
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.forced.forced_states import EMPTY, OK, STATES_FULL, ForcedStates, Reference, fill_latest, force
from phrasebeam.decoder.forced.forced_workspace import ForcedWorkspace
from phrasebeam.decoder.forced.gold_graph import fill_gold_graph, find_options, score_reference
from phrasebeam.decoder.forced.gold_lattice import NO_PREFIX, Goal, GoldLattice, gold_lattice, longest_prefix
from phrasebeam.decoder.held_out.filtered_table import NO_ORIGIN
from phrasebeam.decoder.options.score_checks import check_language_models, too_large
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.hypothesis_graph import HypothesisGraph, best_way_to
from phrasebeam.decoder.search.stacks import HISTORIES_FULL, WRONG_SCORE
from phrasebeam.decoder.search.stacks import STATES_FULL as STATES_OF_SEARCH_FULL
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN

Status = Literal["reachable", "prefix", "unreachable", "too large"]
NO_LINKS = np.zeros((0, 0), np.int32)


@dataclass(frozen=True)
class GoldGraph:
    """The hypothesis graph of a scored lattice, valid until its search ends or scores another lattice."""

    search: "ForcedSearch"
    lattice: GoldLattice
    node_first: np.ndarray  # int64[S + 1], see GoldSpace
    best_node: np.ndarray  # int64[n + 1], see GoldSpace

    @property
    def result(self) -> SearchResult:
        """A result whose methods read derivations; its own graph is not filled."""
        return self.search.result

    @property
    def graph(self) -> HypothesisGraph:
        """The graph. Raises RuntimeError once the search has ended."""
        return self.search.workspace.graph

    def score(self, node: int) -> float:
        """Model score of the best derivation that leads to `node`, including </s> if it covers the sentence."""
        return float(self.graph.score[node])

    def derivation(self, node: int) -> Derivation:
        """The best derivation that leads to `node`."""
        chosen = np.empty(len(self.result.source.words), np.int32)
        chosen = chosen[: best_way_to(self.graph, node, chosen)]
        return Derivation.of(self.result.workspace.options, chosen)

    def features(self, node: int) -> np.ndarray:
        """float64[F] features of the best derivation that leads to `node`, laid out as Decoder.features."""
        derivation, n_words = self.derivation(node), len(self.result.source.words)
        features = np.zeros((1, self.result.features.size))
        is_complete = node >= self.graph.stack_first[n_words]
        self.result.fill_features(derivation, np.array([0, derivation.pair.size]), features, is_complete)
        return features[0]

    def longest_end(self) -> int:
        """The best node at the end of the longest prefix, or of the sentence."""
        lattice, score = self.lattice, self.graph.score
        ends = np.flatnonzero(lattice.is_end)
        best = ends[np.lexsort((lattice.position[ends], lattice.first_gap[ends]))[-1]]
        same = (lattice.first_gap[ends] == lattice.first_gap[best]) & (lattice.position[ends] == lattice.position[best])
        nodes = np.concatenate([np.arange(*self.node_first[i : i + 2]) for i in ends[same]])
        return int(nodes[score[nodes].argmax()])


class ForcedSearch:
    """Searches for the derivations that produce the reference of a sentence, whose options have been looked up."""

    def __init__(
        self,
        result: SearchResult,
        workspace: ForcedWorkspace,
        settings: ForcedDecodingSettings,
        reference: np.ndarray,
        links: np.ndarray = NO_LINKS,
    ):
        """`reference`: int32[m], target ids as in Options; `links`: int32[n + 1, m + 1], see links_before."""
        self.result, self.search, self._workspace = result, result.search, workspace
        self.settings, self.reference, self.links = settings, reference, links
        self.n_words = len(result.source.words)
        workspace.fit(self.n_words)

    @property
    def workspace(self) -> ForcedWorkspace:
        """The borrowed workspace of forced decoding. Raises RuntimeError once the search has ended."""
        self.search.check()
        return self._workspace

    def lattice(self) -> tuple[Status, GoldLattice | None]:
        """All derivations that produce the reference, or prefixes of it if the settings say so; without scores."""
        n_words, options = self.n_words, self.search.workspace.options
        if not n_words:
            return "unreachable", None
        latest, tail = (np.empty(n_words + 1, np.int64) for _ in range(2))
        reference = Reference(self.reference, latest, tail, self.links if self.settings.aligned else NO_LINKS)
        fill_latest(options, n_words, reference)
        for takes_prefixes in (False, True) if self.settings.prefixes != "none" else (False,):
            if not self._force(reference, takes_prefixes):
                return "too large", None
            states = self.workspace.states
            goal = self._goal(states, takes_prefixes)
            if goal:
                lattice = gold_lattice(states, options, n_words, goal, self.search.source.tables.origin)
                return "prefix" if takes_prefixes else "reachable", lattice
        return "unreachable", None

    def _force(self, reference: Reference, takes_prefixes: bool) -> bool:
        """Fill the states of the workspace; return whether there was room for all."""
        workspace, space = self.workspace, self.search.space()
        while (status := force(space, self.n_words, reference, takes_prefixes, workspace.states)) != OK:
            if not (workspace.grow_states() if status == STATES_FULL else workspace.grow_arcs()):
                return False
        return True

    def _goal(self, states: ForcedStates, takes_prefixes: bool) -> Goal | None:
        """The end of derivations: the whole pair, the longest prefix pair or any; None if no state is an end."""
        n_words, least = self.n_words, self.settings.least_prefix
        if not takes_prefixes:
            return Goal(n_words, self.reference.size, least) if states.heads[n_words] != EMPTY else None
        links = self.links if self.settings.prefixes == "closed" else NO_LINKS
        source, target = longest_prefix(states, n_words, least, links)
        if source == NO_PREFIX:
            return None
        return Goal(NO_PREFIX, 0, least) if self.settings.prefixes == "all" else Goal(source, target, least)

    def score(self, lattice: GoldLattice) -> GoldGraph | None:
        """Score the lattice of the sentence pair, found now or earlier, with the weights of the search.

        Returns None if it is too large: the last phrases and blocks, on which scores depend, may divide states a
        thousandfold. Pairs that the table limit excludes with these weights are excluded here, too, even if no
        derivation remains. Raises ModelError if the lattice is of another sentence or model, or if scores are not
        finite.
        """
        workspace, n_words, rule_option = self.search.workspace, self.n_words, self._rule_options(lattice)
        ln_lm = self._score_reference()
        node_first, best_node = np.empty(lattice.position.size + 1, np.int64), np.empty(n_words + 1, np.int64)
        while True:
            gold = self.workspace.gold._replace(
                rule_option=rule_option, ln_lm=ln_lm, node_first=node_first, best_node=best_node
            )
            space = self.search.space()._replace(graph=self.workspace.graph)
            status = fill_gold_graph(space, n_words, lattice, gold)
            if status == OK:
                return GoldGraph(self, lattice, node_first, best_node)
            if status == WRONG_SCORE:
                raise ModelError(f"{too_large(self.search.source.tables.tables)}; {TRAIN_AGAIN}")
            if status == HISTORIES_FULL:
                workspace.grow(status)
            elif not self.workspace.grow_graph(status):
                return None

    def _rule_options(self, lattice: GoldLattice) -> np.ndarray:
        """int64[R], the option of each rule of the lattice, see GoldSpace."""
        origin = self.search.source.tables.origin
        rule_option = np.empty(lattice.rule_pair.size, np.int64)
        is_same = lattice.stack_first.size == self.n_words + 2
        least = 0 if self.search.settings.table_limit else rule_option.size
        options, origin = self.search.workspace.options, NO_ORIGIN if origin is None else origin
        if not is_same or find_options(lattice, options, origin, rule_option) < least:
            raise ModelError(
                "the lattice has phrase pairs that the sentence does not have; give its model and its sentence"
            )
        return rule_option

    def _score_reference(self) -> np.ndarray:
        """float64[m + 2], see GoldSpace.ln_lm; words that occur in no option are unknown to the language models."""
        source, workspace, ids = self.search.source, self.search.workspace, self.reference
        lms, n_known = source.tables.tables.lms, source.tables.tables.lms.word_ids.shape[0]
        lm_words = np.zeros((ids.size, lms.orders.size), np.int32)
        is_known = (ids >= 0) & (ids < n_known)
        lm_words[is_known] = lms.word_ids[ids[is_known]]
        lm_words[ids >= n_known] = source.sentence.synthetic.lm_ids[ids[ids >= n_known] - n_known]
        while ids.size >= workspace.n_states:
            workspace.grow(STATES_OF_SEARCH_FULL)
        begin_states(lms, workspace.states)
        ln_lm = np.empty(ids.size + 2)
        score_reference(lms, lm_words, workspace.states, ln_lm)
        if np.isnan(ln_lm[-1]):
            texts = np.append(lm_words, lms.end_ids, axis=0).T
            check_language_models(self.search.model.language_models, [(ids, True) for ids in texts])
        return ln_lm
