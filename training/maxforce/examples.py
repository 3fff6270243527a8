"""One training sentence: its beam and its gold lattice under the weights as they are, and what they say to change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, Gold
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.hypothesis_graph import best_way_to
from phrasebeam.decoder.search.prefix import target_ids
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.maxforce.beam import NOT_GOOD, Beam, best_good, fill_beam, new_beam
from phrasebeam.training.maxforce.updates import UPDATES, Bins, Strategy, margin
from phrasebeam.training.metrics.metrics import make_metric


class Example(NamedTuple):
    """A sentence pair that has y-good derivations, of the whole or of a prefix pair."""

    number: int  # line of the training data, from 0
    given: Input
    reference: tuple[str, ...]
    lattice: GoldLattice


class Difference(NamedTuple):
    """Features of the better derivation minus those of the worse; without an update all are 0, or none."""

    dense: np.ndarray  # float64[F], laid out as Decoder.features says
    keys: np.ndarray  # uint64[K], ascending
    values: np.ndarray  # float64[K]
    groups: np.ndarray  # int64[K], see GROUPS
    is_solved: bool = False
    n_bins: int = 0
    is_too_large: bool = False  # the scored lattice, so that nothing is compared
    bin: int | None = None  # of the update
    margin: float = 0.0
    better: Derivation | None = None  # by the pairs of the model's table
    worse: Derivation | None = None


class _Searched(NamedTuple):
    """The beam of a sentence."""

    source: PreparedSentence
    workspace: Workspace
    found: SearchResult
    reference: np.ndarray  # int32[m], target ids as Options has them
    n_words: int  # that were translated
    beam: Beam

    def way_to(self, edge: int) -> Derivation:
        """The best derivation that ends with an edge."""
        graph, chosen = self.workspace.graph, np.empty(self.n_words, np.int32)
        size = best_way_to(graph, int(graph.edge_from[edge]), chosen)
        chosen[size] = graph.edge_option[edge]
        chosen = chosen[: size + 1]
        return Derivation.of(self.workspace.options, chosen)


@dataclass(frozen=True)
class Comparison:
    """How sentences are compared; any number of threads may share one."""

    decoder: Decoder  # whose beam it is
    forced: ForcedDecoder  # of the same weights, with a decoder of its own
    update: Strategy
    future_share: float = 0.0  # of the future cost, when derivations are compared

    def difference(self, example: Example) -> Difference:
        """What the example says to change."""
        task = self.forced.prepare(example.given, example.reference)
        gold = self.forced.score(task, example.lattice)
        if gold is None:
            return self._nothing()._replace(is_too_large=True)
        searched = self._search(example)
        closest = self._closest(searched, example) if self.update == "local" else None
        bins, nodes = self.bins(gold, searched, closest)
        update = UPDATES[self.update](bins, self.decoder.longest)
        if update is None:
            return self._nothing()._replace(is_solved=bins.is_solved, n_bins=searched.n_words)
        worse_edge = int(searched.beam.bad_edge[update.bin])
        is_complete = update.bin == len(example.given.words)
        better = searched.way_to(closest) if closest is not None else gold.derivation(int(nodes[update.bin]))
        worse = searched.way_to(worse_edge)
        one = (searched.found if update.closest else gold.found).vector(better, is_complete)
        other = searched.found.vector(worse, is_complete)
        keys, values, groups = _subtract(one[1:], other[1:])
        return Difference(
            one[0] - other[0],
            keys,
            values,
            groups,
            bins.is_solved,
            searched.n_words,
            bin=update.bin,
            margin=margin(bins, update),
            better=_original(better, searched.found if update.closest else gold.found),
            worse=_original(worse, searched.found),
        )

    def _nothing(self) -> Difference:
        dense, none = np.zeros(self.decoder.features.size), np.zeros(0)
        return Difference(dense, none.astype(np.uint64), none, none.astype(np.int64))

    def bins(self, gold: Gold, searched: _Searched, closest: int | None) -> tuple[Bins, np.ndarray]:
        """The scores of all bins, and the best node of each in the gold graph (int64[n + 1]).

        `closest`: edge of the hypothesis that is most like the reference.
        """
        n_words, beam, graph = searched.n_words, searched.beam, searched.workspace.graph
        nodes, priority = np.empty(n_words + 1, np.int64), np.empty(n_words + 1)
        best_good(gold.graph, n_words, searched.workspace.future, self.future_share, nodes, priority)
        good = np.where(nodes < 0, -np.inf, gold.graph.score[np.maximum(nodes, 0)])
        has_both = np.isfinite(priority) & np.isfinite(beam.bad_priority)
        violation = np.full(n_words + 1, -np.inf)
        violation[has_both] = beam.bad_priority[has_both] - priority[has_both]
        last, is_whole = graph.stack_first[n_words], n_words == len(searched.source.words)
        is_solved = bool(last < graph.stack_first[n_words + 1]) and self._is_solved(searched, int(last), is_whole)
        score = -np.inf if closest is None else float(graph.edge_score[closest])
        return Bins(good, beam.bad, violation, beam.has_good, is_solved, score), nodes

    @staticmethod
    def _is_solved(searched: _Searched, best: int, is_whole: bool) -> bool:
        position = int(searched.beam.position[best])
        return position == searched.reference.size if is_whole else bool(position != NOT_GOOD)

    def _search(self, example: Example) -> _Searched:
        lattice, decoder = example.lattice, self.decoder
        n_words = int(lattice.first_gap[lattice.is_end].max())
        source = decoder.preparer.read(example.given)
        workspace = decoder.look_up(source)
        decoder.search_part(source, workspace, n_words)
        reference, graph = target_ids(example.reference, source, decoder.model), workspace.graph
        beam = new_beam(n_words, int(graph.stack_first[n_words + 1]))
        is_whole, future = n_words == len(source.words), workspace.future
        fill_beam(graph, workspace.options, n_words, is_whole, reference, future, self.future_share, beam)
        return _Searched(source, workspace, decoder.found(source, workspace), reference, n_words, beam)

    def _closest(self, searched: _Searched, example: Example) -> int | None:
        """Of the last bin, the edge of the hypothesis with the best smoothed BLEU; of equal ones, the best score."""
        graph, found, lattice = searched.workspace.graph, searched.found, example.lattice
        nodes = slice(*graph.stack_first[searched.n_words : searched.n_words + 2])
        first = graph.edge_first[nodes.start : nodes.stop + 1]
        edges = np.arange(first[0], first[-1]) if searched.n_words == len(searched.source.words) else first[:-1]
        target = int(lattice.position[lattice.is_end].max())
        metric = make_metric("bleu", [[" ".join(example.reference[:target])]])
        texts = [
            " ".join(word for pair in searched.way_to(edge).pair.tolist() for word in self._words(found, pair))
            for edge in edges.tolist()
        ]
        scores = metric.sentence_scores(metric.statistics(np.zeros(len(texts), np.int64), texts))
        ranked = np.lexsort((-edges, graph.edge_score[edges], scores))
        return int(edges[ranked[-1]]) if edges.size else None

    @staticmethod
    def _words(found: SearchResult, pair: int) -> Sequence[str]:
        return found.words_of(int(original_pairs(np.array([pair]), found.source.tables.origin)[0]))


def _original(derivation: Derivation, found: SearchResult) -> Derivation:
    return derivation._replace(pair=original_pairs(derivation.pair, found.source.tables.origin))


def _subtract(
    one: tuple[np.ndarray, np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys, summed values and groups of the first minus the second, where they differ."""
    keys, first, place = np.unique(np.concatenate([one[0], other[0]]), return_index=True, return_inverse=True)
    values = np.bincount(place, np.concatenate([one[1], -other[1]]), keys.size)
    groups = np.concatenate([one[2], other[2]])[first]
    differs = values != 0
    return keys[differs], values[differs], groups[differs]
