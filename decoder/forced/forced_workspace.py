"""The memory of forced decoding: allocated once, enlarged when a sentence pair needs more, and reused for the next."""

from phrasebeam.decoder.forced.forced_states import new_forced_states
from phrasebeam.decoder.forced.gold_graph import new_gold_space
from phrasebeam.decoder.search.hypothesis_graph import new_graph
from phrasebeam.decoder.search.stacks import NODES_FULL

FIRST_STATES, FIRST_NODES = 1 << 12, 1 << 12  # initial sizes
MOST_ARCS, MOST_NODES, MOST_EDGES = 16, 4, 64  # for each possible state; nodes and edges are those of a scored lattice


class ForcedWorkspace:
    """States of one sentence pair, and the hypothesis graph of its scored lattice."""

    def __init__(self, most_states: int):
        self.most_states = most_states
        self.n_states = min(FIRST_STATES, most_states)
        self.n_arcs, self.n_words = 4 * self.n_states, 64
        self.n_nodes, self.n_edges = FIRST_NODES, 4 * FIRST_NODES
        self.new_states()
        self.new_graph()

    def new_states(self) -> None:
        """Allocate states and arcs with the sizes in the n_ fields."""
        self.states = new_forced_states(self.n_states, self.n_arcs, self.n_words)

    def new_graph(self) -> None:
        """Allocate the graph, and the arrays for building it, with the sizes in the n_ fields."""
        self.graph = new_graph(self.n_words, self.n_nodes, self.n_edges)
        self.gold = new_gold_space(self.n_nodes, self.n_edges)

    def fit(self, n_words: int) -> None:
        """Allocate more for a sentence of `n_words` words, if it needs more."""
        if n_words > self.n_words:
            self.n_words = 2 * n_words
            self.new_states()
            self.new_graph()

    def grow_states(self) -> bool:
        """Double the states; return False if the limit is reached."""
        if self.n_states >= self.most_states:
            return False
        self.n_states = min(2 * self.n_states, self.most_states)
        self.new_states()
        return True

    def grow_arcs(self) -> bool:
        """Double the arcs; return False if the limit is reached."""
        if self.n_arcs >= MOST_ARCS * self.most_states:
            return False
        self.n_arcs = min(2 * self.n_arcs, MOST_ARCS * self.most_states)
        self.new_states()
        return True

    def grow_graph(self, status: int) -> bool:
        """Double the full arrays of the graph; return False if the limit is reached."""
        if status == NODES_FULL:
            self.n_nodes *= 2
            self.n_edges = max(self.n_edges, 4 * self.n_nodes)  # no result may depend on earlier pairs
        else:
            self.n_edges *= 2
        fits = self.n_nodes <= max(FIRST_NODES, MOST_NODES * self.most_states)
        fits = fits and self.n_edges <= MOST_EDGES * self.most_states
        if not fits:
            self.n_nodes, self.n_edges = FIRST_NODES, 4 * FIRST_NODES
        self.new_graph()
        return fits
