"""The memory of one search: allocated once, enlarged when a sentence needs more, and reused for the next sentence."""

import numpy as np

from phrasebeam.decoder.features.histories import Histories, new_histories
from phrasebeam.decoder.features.language_model import MEMO_SIZE, States, new_states
from phrasebeam.decoder.features.stateful import MOST_COLUMNS, FeatureMemory, new_feature_memory
from phrasebeam.decoder.features.stateful_feature import Room
from phrasebeam.decoder.held_out.filtered_table import TableFilter
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.input.synthetic_pairs import longest_target
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Sentence
from phrasebeam.decoder.options.candidate_cache import clear_candidate_cache
from phrasebeam.decoder.options.candidates import Candidates, new_candidates, new_target_room, with_room
from phrasebeam.decoder.options.future_cost import FutureCost, new_future_cost
from phrasebeam.decoder.options.option_arrays import Options, new_options
from phrasebeam.decoder.search.cube_pruning import Queues, new_queues
from phrasebeam.decoder.search.hypothesis_graph import HypothesisGraph, new_graph
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stacks import (
    EDGES_FULL,
    HISTORIES_FULL,
    NODES_FULL,
    QUEUE_FULL,
    STACK_EDGES_FULL,
    STACK_FULL,
    STATES_FULL,
    Stacks,
    new_stacks,
)
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.sparse.sparse_features import SparseFeatureBuffer, new_sparse_features

SMALLEST_STACK, LARGEST_STACK = 32, 1 << 12  # initial sizes
SMALLEST_MEMO, REMEMBERED_PER_POP = 1 << 10, 32


class Workspace:
    """Arrays for one sentence at a time; kernels report what is full, and `grow` doubles it.

    What is remembered across sentences, `candidates.cache` and the `table_filters`, belongs to one snapshot of the
    weights, the one that was adopted last.
    """

    options: Options
    future: FutureCost
    states: States
    stacks: Stacks
    graph: HypothesisGraph
    queues: Queues
    candidates: Candidates
    histories: Histories
    memory: FeatureMemory

    def __init__(self, model: Model, search: SearchSettings, longest: int):
        """For sentences of `model` within the limits of `search`, with source phrases of up to `longest` words."""
        self.tables, sparse = model.tables, model.tables.sparse
        self.orders, self.longest = model.tables.lms.orders, longest
        self.n_words, self.n_options, self.n_target_words = 32, 1 << 10, 1 << 12
        self.n_states, self.n_nodes, self.n_edges = 1 << 12, 1 << 12, 1 << 14
        self.memo_size = _memo_size(search)
        self.stack_size = min(max(2 * search.stack, SMALLEST_STACK), LARGEST_STACK)
        self.stack_edges, self.n_queued = 1 << 12, 1 << 12
        longest_target = max(model.description.max_target_phrase_length, 1)
        self.n_histories, self.n_levels = 1 << 12, sparse.begin_classes.size - 1
        most, n_models = max(model.most_pairs, 1), self.orders.size
        self.candidates = new_candidates(most, longest_target, search.table_limit, n_models, sparse)
        self.snapshot: WeightSnapshot | None = None
        self.table_filters: dict[int | None, TableFilter] = {}  # by fold of the language model, see HeldOutPair
        self.rebuild()

    def adopt(self, snapshot: WeightSnapshot) -> None:
        """Serve searches with `snapshot` from now on: forget what is remembered for other weights."""
        if self.snapshot is not snapshot:
            clear_candidate_cache(self.candidates.cache)
            is_ranked_alike = self.snapshot is not None and self.snapshot.ranking is snapshot.ranking
            self.snapshot = snapshot
            for table_filter in self.table_filters.values():
                table_filter.reweigh(snapshot.tables, snapshot.ranking, is_ranked_alike)

    def rebuild(self) -> None:
        """Allocate all arrays again with the sizes in the n_ and stack_ fields."""
        self.states = new_states(self.orders, self.n_states, self.memo_size)
        self._new_histories()
        self.future = new_future_cost(self.n_words)
        self._new_options()
        self._new_stacks()
        self._new_graph()
        self._new_queues()

    def fit(self, sentence: Sentence) -> None:
        """Make room for `sentence`."""
        if sentence.longest != self.longest:
            self.longest = sentence.longest
            self._new_options()
            self._new_stacks()
            self._new_queues()
            self._new_histories()
        n_words, longest_synthetic = sentence.words.size, longest_target(sentence.synthetic)
        if longest_synthetic > self.candidates.words.size:
            words, lm_words = new_target_room(longest_synthetic, self.orders.size)
            self.candidates = self.candidates._replace(words=words, lm_words=lm_words)
            self._new_histories()
        self.candidates = with_room(self.candidates, 0, sentence.synthetic.unknown.size)
        if n_words > self.n_words:
            self.n_words = max(n_words, 2 * self.n_words)
            self.future = new_future_cost(self.n_words)
            self._new_options()
            self._new_graph()
        while n_words >= self.n_histories:
            self.grow(HISTORIES_FULL)

    def new_target_room(self, n_phrases: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for the words of translations of up to `n_phrases` phrases, </s> included."""
        return new_target_room(n_phrases * self.candidates.words.size + 1, self.orders.size)

    def new_sparse_features(self, n_phrases: int) -> SparseFeatureBuffer:
        """Room for the sparse features of derivations of up to `n_phrases` phrases."""
        return new_sparse_features(n_phrases * self.most_sparse_features, self.n_levels)

    @property
    def most_sparse_features(self) -> int:
        """Sparse features that a phrase can have at most."""
        return int(self.candidates.fired.keys.size)

    def grow_options(self) -> None:
        """Double the room for translation options."""
        self.n_options, self.n_target_words = 2 * self.n_options, 2 * self.n_target_words
        self._new_options()
        self._new_histories()

    def grow(self, status: int) -> None:
        """Double the array that a search reported as full."""
        if status == STATES_FULL:
            self.n_states *= 2
            self.states = new_states(self.orders, self.n_states, self.memo_size)
        elif status == HISTORIES_FULL:
            self.n_histories *= 2
            self._new_histories(self.memory)
        elif status == QUEUE_FULL:
            self.n_queued *= 2
            self._new_queues()
        elif status in {STACK_FULL, STACK_EDGES_FULL}:
            self.stack_size *= 1 + (status == STACK_FULL)
            self.stack_edges *= 1 + (status == STACK_EDGES_FULL)
            self._new_stacks()
            self._new_queues()
        else:
            self.n_nodes *= 1 + (status == NODES_FULL)
            self.n_edges *= 1 + (status == EDGES_FULL)
            self._new_graph()
            self._new_queues()

    def _new_options(self) -> None:
        self.spans = np.zeros(COVERAGE_WINDOW * self.longest, np.int64)
        self.options = new_options(self.n_words, self.longest, self.n_options, self.n_target_words, self.orders.size)

    def _new_histories(self, old: FeatureMemory | None = None) -> None:
        self.histories = new_histories(self.n_histories, MOST_COLUMNS)
        longest = max(self.longest, self.candidates.words.size)
        self.memory = new_feature_memory(self.tables, Room(self.n_histories, longest, self.n_options), old)

    def _new_stacks(self) -> None:
        self.stacks = new_stacks(self.longest + 1, self.stack_size, self.stack_edges)

    def _new_graph(self) -> None:
        self.graph = new_graph(self.n_words, self.n_nodes, self.n_edges)

    def _new_queues(self) -> None:
        self.queues = new_queues(self.longest + 1, self.n_queued, self.n_nodes, self.stack_size)


def _memo_size(search: SearchSettings) -> int:
    """Size of the memo; if few hypotheses are built, it is small enough for the processor's first cache."""
    if search.algorithm != "cube" or search.pop_limit == 0:
        return MEMO_SIZE
    size = SMALLEST_MEMO
    while size < min(REMEMBERED_PER_POP * search.pop_limit, MEMO_SIZE):
        size *= 2
    return size
