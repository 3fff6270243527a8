"""The search, stack by stack: hypotheses that were kept, recombined or lost, and why.

All of this is read from the hypothesis graph, so that searches without explanation do no extra work: extensions of
hypotheses in the graph that are not in the graph themselves were lost. The best of these by their estimates are scored,
like all hypotheses of the search, and compared with what their stack kept.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.explanation.weighted_features import Plain, Weighing, vectors
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, cover
from phrasebeam.decoder.options.future_cost import future_cost
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.extension import SearchSpace, find_spans, jump
from phrasebeam.decoder.search.hypothesis_graph import NO_OPTION, START_NODE, HypothesisGraph, best_way_to
from phrasebeam.kernels.jit import kernel

Reason = Literal["beam", "stack", "not tried"]
TIE = 1e-9  # scores computed in different orders differ by less
FULL = np.int64(-1)
FIRST_ROOM = 1 << 14  # initial room for extensions


class Extensions(NamedTuple):
    """X pairs of a node and a span, ordered by node; and the future costs of N nodes."""

    node: Annotated[np.ndarray, array(np.int32, "X", fill=None)]
    covered: Annotated[np.ndarray, array(np.int32, "X", fill=None)]  # covered words, including the span
    span: Annotated[np.ndarray, array(np.int64, "X", fill=None)]  # index in Options.first
    base: Annotated[np.ndarray, array(np.float64, "X", fill=None)]  # score of the node and of the jump to the span
    orientation: Annotated[np.ndarray, array(np.int64, "X", fill=None)]  # index in Options.backward
    remaining: Annotated[np.ndarray, array(np.float64, "X", fill=None)]  # future cost after the span
    node_remaining: Annotated[np.ndarray, array(np.float64, "N", fill=None)]


@kernel
def fill_extensions(space: SearchSpace, n_words: int, extensions: Extensions):
    """List the extensions of the nodes of a searched graph; return their number (int64), or FULL."""
    graph, options, count = space.graph, space.options, np.int64(0)
    for covered in range(n_words + 1):
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            gap, window = np.int64(graph.first_gap[node]), graph.window[node]
            extensions.node_remaining[node] = future_cost(space.future, gap, window)
            n_spans = find_spans(space, n_words, node) if covered < n_words else np.int64(0)
            if count + n_spans > extensions.node.size:
                return FULL
            for i in range(n_spans):
                first = options.first[space.spans[i]]
                begin, end = np.int64(options.begin[first]), np.int64(options.end[first])
                first_gap, behind = cover(gap, window, begin, end)
                base, orientation = jump(space, node, begin, end)
                extensions.node[count], extensions.covered[count] = node, covered + end - begin
                extensions.span[count], extensions.base[count] = space.spans[i], base
                extensions.orientation[count] = orientation
                extensions.remaining[count] = future_cost(space.future, first_gap, behind)
                count += 1
    return count


def all_extensions(space: SearchSpace, n_words: int) -> Extensions:
    """The extensions of all nodes in the graph of a search of a sentence of `n_words` words."""
    room, n_nodes = FIRST_ROOM, int(space.graph.stack_first[n_words + 1])
    while True:
        extensions = allocate(Extensions, {"X": room, "N": n_nodes})
        count = fill_extensions(space, n_words, extensions)
        if count != FULL:
            names = [name for name in Extensions._fields if name != "node_remaining"]
            return extensions._replace(**{name: getattr(extensions, name)[:count] for name in names})
        room *= 2


class TracedHypothesis(Plain):
    """A hypothesis that a stack kept, together with the hypotheses recombined with it."""

    node: int  # number in the graph
    back: int | None  # node from which its best way comes; None at the start
    coverage: list[int]  # positions of translated source words
    source: str  # source side of the last phrase
    target: str
    text: str  # the whole translation so far
    score: float
    future: float  # future cost: estimate for what is not translated
    n_recombined: int  # worse ways to the same state
    is_on_best: bool  # part of the best derivation


class RecombinedHypothesis(Plain):
    """A worse way to the state of a kept hypothesis."""

    into: int  # node
    source: str
    target: str
    text: str
    score: float
    loss: float  # difference of its score to that of the kept hypothesis


class LostHypothesis(Plain):
    """A hypothesis that is not in the graph."""

    back: int  # node
    source: str
    target: str
    text: str
    score: float
    future: float
    reason: Reason  # below the beam; below the worst hypothesis kept by a full stack; or not tried by cube pruning
    missing: float  # by how much score plus future cost is too low; 0 if it was not tried


class TracedStack(Plain):
    """Hypotheses that have translated equally many source words."""

    covered: int  # words
    n_tried: int  # extensions of kept hypotheses by all options that fit
    n_kept: int
    n_recombined: int
    n_lost: int
    beam: float | None  # the least score plus future cost within the beam threshold; None without threshold
    worst: float | None  # score plus future cost of the worst hypothesis kept
    is_full: bool  # whether it has as many hypotheses as its limit
    kept: list[TracedHypothesis]  # the best hypotheses
    recombined: list[RecombinedHypothesis]
    lost: list[LostHypothesis]


class _Candidates(NamedTuple):
    """Hypotheses lost by a stack."""

    node: np.ndarray  # int32[C]
    option: np.ndarray  # int64[C]
    estimate: np.ndarray  # float64[C], including future cost
    remaining: np.ndarray  # float64[C]


def search_trace(result: SearchResult, most: int) -> list[TracedStack]:
    """The stacks of a search of text without a prefix, each with up to `most` hypotheses of each kind."""
    trace = _Trace(result, most)
    return [trace.stack(covered) for covered in range(1, trace.n_words + 1)]


class _Trace:
    """The search to be traced."""

    def __init__(self, result: SearchResult, most: int):
        self.result, self.most, self.weighing = result, most, Weighing.of(result)
        self.n_words, self.graph = len(result.source.words), result.workspace.graph
        self.extensions = all_extensions(result.search.space(), self.n_words)
        final = int(self.graph.stack_first[self.n_words])
        self.on_best = set(_nodes_to(self.graph, final))

    def stack(self, covered: int) -> TracedStack:
        graph = self.graph
        first, last = graph.stack_first[covered : covered + 2].tolist()
        edges = np.arange(graph.edge_first[first], graph.edge_first[last])
        priorities = graph.score[first:last] + self.extensions.node_remaining[first:last]
        n_tried, lost = self._lost(covered, edges)
        limit, ln_beam = self.result.search.settings.stack, self.result.search.settings.ln_beam_threshold
        beam = float(priorities[0] + ln_beam) if last > first and np.isfinite(ln_beam) else None
        stack = TracedStack(
            covered=covered,
            n_tried=n_tried,
            n_kept=last - first,
            n_recombined=edges.size - (last - first),
            n_lost=lost.node.size,
            beam=beam,
            worst=float(priorities[-1]) if last > first else None,
            is_full=last - first == limit,
            kept=[self._kept(node) for node in range(first, min(last, first + self.most))],
            recombined=self._recombined(first, last),
            lost=[],
        )
        return stack.model_copy(update={"lost": self._scored(stack, lost)})

    def _kept(self, node: int) -> TracedHypothesis:
        graph = self.graph
        edge, derivation = int(graph.edge_first[node]), self._way_to(node)
        source, target, text = self._texts(derivation)
        return TracedHypothesis(
            node=node,
            back=int(graph.edge_from[edge]) if node != START_NODE else None,
            coverage=_positions(int(graph.first_gap[node]), int(graph.window[node])),
            source=source,
            target=target,
            text=text,
            score=float(graph.score[node]),
            future=float(self.extensions.node_remaining[node]),
            n_recombined=int(graph.edge_first[node + 1]) - edge - 1,
            is_on_best=node in self.on_best,
        )

    def _recombined(self, first: int, last: int) -> list[RecombinedHypothesis]:
        """The ways whose score is least below that of the best way to their node."""
        graph, found = self.graph, list[tuple[float, int, int]]()
        for node in range(first, last):
            begin, end = graph.edge_first[node : node + 2].tolist()
            losses = (graph.score[node] - graph.edge_score[begin + 1 : end]).tolist()
            found += [(loss, node, edge) for edge, loss in enumerate(losses, begin + 1)]
        return [self._one_recombined(*one) for one in sorted(found)[: self.most]]

    def _one_recombined(self, loss: float, node: int, edge: int) -> RecombinedHypothesis:
        graph = self.graph
        derivation = self._way_to(int(graph.edge_from[edge]), int(graph.edge_option[edge]))
        source, target, text = self._texts(derivation)
        score = float(graph.edge_score[edge])
        return RecombinedHypothesis(into=node, source=source, target=target, text=text, score=score, loss=loss)

    def _lost(self, covered: int, edges: np.ndarray) -> tuple[int, _Candidates]:
        """The number of hypotheses of a stack that kept ones can build, and those among them that the graph lacks."""
        options, extensions = self.result.workspace.options, self.extensions
        own = np.flatnonzero(extensions.covered == covered)
        first = options.first[extensions.span[own]]
        sizes = options.first[extensions.span[own] + 1] - first
        number = np.repeat(own, sizes)
        option = np.arange(number.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(first, sizes)
        known = _keys(self.graph.edge_from[edges], self.graph.edge_option[edges])
        is_lost = ~np.isin(_keys(extensions.node[number], option), known)
        number, option = number[is_lost], option[is_lost]
        remaining = extensions.remaining[number]
        estimate = extensions.base[number] + options.backward[option, extensions.orientation[number]]
        estimate += options.estimate[option] + remaining
        return int(sizes.sum()), _Candidates(extensions.node[number], option, estimate, remaining)

    def _scored(self, stack: TracedStack, lost: _Candidates) -> list[LostHypothesis]:
        """The best of the lost hypotheses by their estimates, with their scores, best first."""
        best = np.lexsort((lost.option, lost.node, -lost.estimate))[: self.most]
        ways = [self._way_to(int(lost.node[i]), int(lost.option[i])) for i in best]
        scores = vectors(self.result, ways, stack.covered == self.n_words) @ self.weighing.weights
        rows = zip(ways, lost.node[best].tolist(), scores.tolist(), lost.remaining[best].tolist())
        found = []
        for way, node, score, future in rows:
            source, target, text = self._texts(way)
            reason, missing = _reason(stack, score + future)
            found.append(
                LostHypothesis(
                    back=node,
                    source=source,
                    target=target,
                    text=text,
                    score=score,
                    future=future,
                    reason=reason,
                    missing=missing,
                )
            )
        return sorted(found, key=lambda one: -(one.score + one.future))

    def _way_to(self, node: int, option: int = NO_OPTION) -> Derivation:
        """The best derivation to a node, followed by an option."""
        chosen = np.empty(self.n_words + 1, np.int32)
        count = int(best_way_to(self.graph, node, chosen))
        if option != NO_OPTION:
            chosen[count] = option
            count += 1
        return Derivation.of(self.result.workspace.options, chosen[:count])

    def _texts(self, derivation: Derivation) -> tuple[str, str, str]:
        pairs = original_pairs(derivation.pair, self.result.source.tables.origin).tolist()
        targets = [" ".join(self.result.target(pair)) for pair in pairs]
        span = int(derivation.begin[-1]), int(derivation.end[-1])
        source = " ".join(self.result.source.words_of(pairs[-1], *span))
        return source, targets[-1], " ".join(filter(None, targets))


def _reason(stack: TracedStack, priority: float) -> tuple[Reason, float]:
    """Why a stack lost a hypothesis with this `priority` (score plus future cost), and by how much it is too low."""
    if stack.beam is not None and priority < stack.beam + TIE:
        return "beam", max(stack.beam - priority, 0.0)
    if stack.is_full and stack.worst is not None and priority < stack.worst + TIE:
        return "stack", max(stack.worst - priority, 0.0)
    return "not tried", 0.0


def _keys(node: np.ndarray, option: np.ndarray) -> np.ndarray:
    return (node.astype(np.int64) << 32) | option.astype(np.int64)


def _nodes_to(graph: HypothesisGraph, node: int) -> Sequence[int]:
    """The nodes on the best way to `node`."""
    found = [node]
    while found[-1] != START_NODE:
        found.append(int(graph.edge_from[graph.edge_first[found[-1]]]))
    return found


def _positions(first_gap: int, window: int) -> list[int]:
    """The source positions of a coverage."""
    return [*range(first_gap), *(first_gap + i for i in range(COVERAGE_WINDOW) if window >> i & 1)]
