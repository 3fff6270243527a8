"""Sentence pairs in, their y-good derivations out: forced decoding as the Python API and the command use it."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.decoder.features.hierarchical import forget_blocks
from phrasebeam.decoder.features.language_model import begin_states
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced import (
    EMPTY,
    OK,
    STATES_FULL,
    ForcedStates,
    Reference,
    fill_latest,
    force,
    links_before,
    new_forced_states,
)
from phrasebeam.decoder.forced.forced_settings import Forcing
from phrasebeam.decoder.forced.gold_graph import fill_gold_graph, find_options, new_gold_space, score_reference
from phrasebeam.decoder.forced.gold_lattice import (
    NO_PREFIX,
    Goal,
    GoldLattice,
    gold_lattice,
    ln_derivations,
    longest_prefix,
)
from phrasebeam.decoder.held_out.filtered_table import NO_ORIGIN
from phrasebeam.decoder.input.input_settings import Reading
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.model import open_model
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.lattice import Lattice
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.hypothesis_graph import HypothesisGraph, best_way_to, new_graph
from phrasebeam.decoder.search.prefix import target_ids
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence
from phrasebeam.decoder.search.search_settings import Search
from phrasebeam.decoder.search.stacks import BLOCKS_FULL, HISTORIES_FULL, NODES_FULL
from phrasebeam.decoder.search.stacks import STATES_FULL as STATES_OF_SEARCH_FULL
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.translate.translator import Decoder, SearchResult
from phrasebeam.lm.text.corpus import split

Status = Literal["reachable", "prefix", "unreachable", "too large"]
FIRST_STATES, FIRST_NODES = 1 << 12, 1 << 12  # room at first
NO_LINKS = np.zeros((0, 0), np.int32)
MOST_ARCS, MOST_NODES, MOST_EDGES = 16, 4, 64  # for each state that there may be; nodes and edges of a scored lattice


@dataclass(frozen=True)
class Forced:
    """What forced decoding finds of a sentence pair; where it is not reachable, of its longest prefix pair."""

    status: Status
    source_words: int
    source_prefix: int = 0  # words, all of them if the whole is reachable
    target_prefix: int = 0
    best: Translation | None = None  # the best derivation under the model
    ln_derivations: float | None = None  # ln of how many the lattice holds
    lattice: GoldLattice | None = None
    graph: Lattice | None = None  # the same scored, where the decoder keeps that


class Task(NamedTuple):
    """A sentence pair made ready."""

    source: PreparedSentence
    workspace: Workspace
    reference: np.ndarray  # int32[m], target ids as Options has them
    links: np.ndarray  # int32[n + 1, m + 1], see links_before; or NO_LINKS


class Gold(NamedTuple):
    """A scored lattice, until the thread's next one."""

    found: SearchResult
    lattice: GoldLattice
    graph: HypothesisGraph
    node_first: np.ndarray  # int64[S + 1], see GoldSpace
    best_node: np.ndarray  # int64[n + 1], likewise

    def score(self, node: int) -> float:
        """Model score of the best derivation that leads to `node`, with </s> if that covers the sentence."""
        return float(self.graph.score[node])

    def derivation(self, node: int) -> Derivation:
        """That derivation."""
        chosen = np.empty(len(self.found.source.words), np.int32)
        chosen = chosen[: best_way_to(self.graph, node, chosen)]
        return Derivation.of(self.found.workspace.options, chosen)


class _Room:
    """The memory of one thread."""

    def __init__(self, most_states: int):
        self.n_states = min(FIRST_STATES, most_states)
        self.n_arcs, self.n_words = 4 * self.n_states, 64
        self.n_nodes, self.n_edges = FIRST_NODES, 4 * FIRST_NODES
        self.new_states()
        self.new_graph()

    def new_states(self) -> None:
        self.states = new_forced_states(self.n_states, self.n_arcs, self.n_words)

    def new_graph(self) -> None:
        self.graph = new_graph(self.n_words, self.n_nodes, self.n_edges)
        self.gold = new_gold_space(self.n_nodes, self.n_edges)

    def grow_graph(self, status: int, most_states: int) -> bool:
        """More room for what is full; False if there must not be more."""
        if status == NODES_FULL:
            self.n_nodes *= 2
            self.n_edges = max(self.n_edges, 4 * self.n_nodes)  # so that no pair's answer depends on those before it
        else:
            self.n_edges *= 2
        has_room = self.n_nodes <= max(FIRST_NODES, MOST_NODES * most_states)
        has_room = has_room and self.n_edges <= MOST_EDGES * most_states
        if not has_room:
            self.n_nodes, self.n_edges = FIRST_NODES, 4 * FIRST_NODES
        self.new_graph()
        return has_room

    def fit(self, n_words: int) -> None:
        if n_words > self.n_words:
            self.n_words = 2 * n_words
            self.new_states()
            self.new_graph()


class ForcedDecoder:
    """A model that is made to produce references; any number of threads may share one."""

    def __init__(self, decoder: Decoder, settings: Forcing | None = None, keeps_graphs: bool = False):
        """The limits of the search are the decoder's; where its table limit is 0, any pair of the table may be used.

        `keeps_graphs`: whether `force` answers with lattices for people; not with those of all prefix pairs.
        """
        self.decoder, self.settings, self.keeps_graphs = decoder, settings or Forcing(), keeps_graphs
        self._local = threading.local()

    @classmethod
    def load(
        cls,
        directory: str | Path,
        search: Search | None = None,
        settings: Forcing | None = None,
        weights: Weights | None = None,
        reading: Reading | None = None,
    ) -> "ForcedDecoder":
        """Of the model in `directory`; without `search`, no table limit. Raises SmtError, naming the file at fault."""
        limits = search or Search(table_limit=0)
        return cls(Decoder(open_model(directory), limits, weights, reading=reading), settings)

    def force(self, line: str | Input, reference: str | Sequence[str]) -> Forced:
        """The derivations of a tokenized sentence that yield the tokenized `reference`."""
        given = line if isinstance(line, Input) else Input(split(line))
        task = self.prepare(given, split(reference) if isinstance(reference, str) else reference)
        status, lattice = self.lattice(task)
        n_words = len(given.words)
        gold = None if lattice is None else self.score(task, lattice)
        if lattice is None or gold is None:
            return Forced(status if lattice is None else "too large", n_words)
        node = self._longest_end(gold)
        # The end of a derivation has no gap.
        source, target = int(gold.graph.first_gap[node]), int(gold.graph.lm_state[node])
        found, derivation = gold.found, gold.derivation(node)
        best = found.translation(derivation, gold.score(node), self.features(gold, node))
        graph = found.lattice_of(gold.graph, source) if self.keeps_graphs else None
        return Forced(status, n_words, source, target, best, ln_derivations(lattice), lattice, graph)

    def force_all(self, pairs: Iterable[tuple[str | Input, str | Sequence[str]]], threads: int = 1) -> Iterator[Forced]:
        """force of every pair of sentence and reference, in their order, each as soon as those before it are ready."""
        yield from map_ordered(lambda pair: self.force(*pair), pairs, threads)

    def prepare(self, given: Input, reference: Sequence[str]) -> Task:
        """Look up what can be used of the phrase table."""
        model = self.decoder.model
        known = model.target.ids(list(reference)) if self.decoder.search.table_limit == 0 else None
        source = self.decoder.preparer.read(given, known)
        workspace = self.decoder.look_up(source)
        return Task(source, workspace, target_ids(reference, source, model), self._links(given, len(reference)))

    def _links(self, given: Input, n_reference: int) -> np.ndarray:
        if not self.settings.aligned:
            return NO_LINKS
        if given.held_out is None:
            raise ConfigError("forcing.aligned needs word alignments, which come with leave_one_out; give both")
        return links_before(given.held_out.alignment, len(given.words), n_reference)

    def lattice(self, task: Task) -> tuple[Status, GoldLattice | None]:
        """All derivations that yield the reference, or a prefix of it as the settings have it; without scores."""
        n_words, room = len(task.source.words), self._room(task)
        if not n_words:
            return "unreachable", None
        latest, tail = (np.empty(n_words + 1, np.int64) for _ in range(2))
        reference = Reference(task.reference, latest, tail, task.links)
        fill_latest(task.workspace.options, n_words, reference)
        for takes_prefixes in (False, True) if self.settings.prefixes != "none" else (False,):
            if not self._force(task, reference, takes_prefixes):
                return "too large", None
            goal = self._goal(room.states, n_words, task.reference.size, takes_prefixes)
            if goal:
                origin = task.source.tables.origin
                lattice = gold_lattice(room.states, task.workspace.options, n_words, goal, origin)
                return "prefix" if takes_prefixes else "reachable", lattice
        return "unreachable", None

    def score(self, task: Task, lattice: GoldLattice) -> Gold | None:
        """Score the lattice of the sentence pair, found now or earlier, by the weights of the decoder.

        None if that is too large: what scores depend on, phrases and blocks, may divide states a thousandfold. Pairs
        that the table limit leaves out under these weights are left out here, too, be it all derivations. Raises
        ModelError if the lattice is of another sentence or model.
        """
        room, n_words = self._room(task), len(task.source.words)
        origin = NO_ORIGIN if task.source.tables.origin is None else task.source.tables.origin
        rule_option, is_same = np.empty(lattice.rule_pair.size, np.int64), lattice.stack_first.size == n_words + 2
        least = 0 if self.decoder.search.table_limit else rule_option.size
        if not is_same or find_options(lattice, task.workspace.options, origin, rule_option) < least:
            raise ModelError("the lattice has rules that the sentence lacks; give the model and the sentence it is of")
        ln_lm = self._score_reference(task)
        while True:
            gold = room.gold._replace(
                rule_option=rule_option,
                ln_lm=ln_lm,
                node_first=np.empty(lattice.position.size + 1, np.int64),
                best_node=np.empty(n_words + 1, np.int64),
            )
            forget_blocks(task.workspace.blocks)
            space = self.decoder.search_space(task.source, task.workspace)._replace(graph=room.graph)
            status = fill_gold_graph(space, n_words, lattice, gold)
            if status == OK:
                found = self.decoder.found(task.source, task.workspace)
                return Gold(found, lattice, room.graph, gold.node_first, gold.best_node)
            if status in {BLOCKS_FULL, HISTORIES_FULL}:
                task.workspace.grow(status)
            elif not room.grow_graph(status, self.settings.max_states):
                return None

    def features(self, gold: Gold, node: int) -> np.ndarray:
        """float64[F] features of the best derivation that leads to `node`, laid out as Decoder.features says."""
        derivation, n_words = gold.derivation(node), len(gold.found.source.words)
        is_complete = node >= gold.graph.stack_first[n_words]
        features = np.zeros((1, len(self.decoder.features.names())))
        gold.found.fill_features(derivation, np.array([0, derivation.pair.size]), features, is_complete)
        return features[0]

    def _force(self, task: Task, reference: Reference, takes_prefixes: bool) -> bool:
        """Fill the states of this thread; whether there are not too many."""
        room, n_words, most = self._room(task), len(task.source.words), self.settings.max_states
        space = self.decoder.search_space(task.source, task.workspace)
        while (status := force(space, n_words, reference, takes_prefixes, room.states)) != OK:
            if room.n_states >= most if status == STATES_FULL else room.n_arcs >= MOST_ARCS * most:
                return False
            if status == STATES_FULL:
                room.n_states = min(2 * room.n_states, most)
            else:
                room.n_arcs = min(2 * room.n_arcs, MOST_ARCS * most)
            room.new_states()
        return True

    def _goal(self, states: ForcedStates, n_words: int, n_reference: int, takes_prefixes: bool) -> Goal | None:
        """What derivations can end with, if with anything."""
        least = self.settings.least_prefix
        if not takes_prefixes:
            return Goal(n_words, n_reference, least) if states.heads[n_words] != EMPTY else None
        source, target = longest_prefix(states, n_words, least)
        if source == NO_PREFIX:
            return None
        return Goal(source, target, least) if self.settings.prefixes == "longest" else Goal(NO_PREFIX, 0, least)

    def _score_reference(self, task: Task) -> np.ndarray:
        """float64[m + 2], see GoldSpace.ln_lm; words that no option has are unknown to the language models."""
        tables, synthetic, workspace = task.source.tables.tables, task.source.sentence.synthetic, task.workspace
        lms, ids, n_known = tables.lms, task.reference, tables.lms.word_ids.shape[0]
        lm_words = np.zeros((ids.size, lms.orders.size), np.int32)
        is_known = (ids >= 0) & (ids < n_known)
        lm_words[is_known] = lms.word_ids[ids[is_known]]
        lm_words[ids >= n_known] = synthetic.lm_ids[ids[ids >= n_known] - n_known]
        while ids.size >= workspace.n_states:
            workspace.grow(STATES_OF_SEARCH_FULL)
        begin_states(lms, workspace.states)
        ln_lm = np.empty(ids.size + 2)
        score_reference(lms, lm_words, workspace.states, ln_lm)
        return ln_lm

    def _longest_end(self, gold: Gold) -> int:
        """The best node where the longest prefix ends, or the sentence."""
        graph, lattice = gold.graph, gold.lattice
        ends = np.flatnonzero(lattice.is_end)
        best = ends[np.lexsort((lattice.position[ends], lattice.first_gap[ends]))[-1]]
        same = (lattice.first_gap[ends] == lattice.first_gap[best]) & (lattice.position[ends] == lattice.position[best])
        nodes = np.concatenate([np.arange(*gold.node_first[i : i + 2]) for i in ends[same]])
        return int(nodes[graph.score[nodes].argmax()])

    def _room(self, task: Task) -> _Room:
        local = self._local
        if not hasattr(local, "room"):
            local.room = _Room(self.settings.max_states)
        room: _Room = local.room
        room.fit(len(task.source.words))
        return room
