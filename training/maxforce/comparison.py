"""The perceptron on one sentence: compares beam and gold lattice under the current weights; gives the update."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.forced_search import GoldGraph
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.hypothesis_graph import HypothesisGraph, best_way_to
from phrasebeam.decoder.search.prefix import target_ids
from phrasebeam.decoder.search.sentence_search import SentenceSearch
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.maxforce.beam import NOT_GOOD, Beam, best_good, fill_beam, new_beam
from phrasebeam.training.maxforce.updates import UPDATES, Bins, Strategy, lead
from phrasebeam.training.metrics.metric import make_metric


class TrainingExample(NamedTuple):
    """A sentence pair that has y-good derivations, of the whole pair or of a prefix of both sides."""

    number: int  # line of the training data, from 0
    given: Input  # the source sentence
    reference: tuple[str, ...]
    lattice: GoldLattice


class Difference(NamedTuple):
    """Features of the better derivation minus those of the worse one; without an update, zeros and empty arrays."""

    dense: np.ndarray  # float64[F], laid out as Decoder.features says
    keys: np.ndarray  # uint64[K], ascending
    values: np.ndarray  # float64[K]
    groups: np.ndarray  # int64[K], index of GROUPS
    is_solved: bool = False
    n_bins: int = 0
    is_too_large: bool = False  # whether the scored lattice is too large, so that nothing is compared
    bin: int | None = None  # the bin of the update; None without an update
    lead: float = 0.0  # score of the better derivation minus that of the worse one and the margin; invalid above 0
    better: Derivation | None = None  # its pairs are numbered as in the model's phrase table
    worse: Derivation | None = None


class BeamResult(NamedTuple):
    """The beam of a sentence; it can be read until its search ends."""

    result: SearchResult
    reference: np.ndarray  # int32[m], target ids as Options has them
    n_words: int  # number of source words that were translated
    beam: Beam

    @property
    def graph(self) -> HypothesisGraph:
        """The graph of all hypotheses that were not pruned."""
        return self.result.workspace.graph

    @property
    def is_whole(self) -> bool:
        """Whether the whole sentence was translated."""
        return self.n_words == len(self.result.source.words)

    def derivation(self, edge: int) -> Derivation:
        """The best derivation that ends with an edge."""
        graph, chosen = self.graph, np.empty(self.n_words, np.int32)
        size = best_way_to(graph, int(graph.edge_from[edge]), chosen)
        chosen[size] = graph.edge_option[edge]
        chosen = chosen[: size + 1]
        return Derivation.of(self.result.workspace.options, chosen)


@dataclass(frozen=True)
class Comparison:
    """Compares beam and gold derivations of sentences; threads may share an instance."""

    decoder: Decoder  # searches the beam
    forced: ForcedDecoder  # has the same weights; if it uses `decoder`, each sentence is prepared only once
    update: Strategy
    future_share: float = 0.0  # factor of the future cost when derivations are compared
    margin: float = 0.0  # by which the score of y-good derivations should be higher

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> WeightSnapshot:
        """Weights for both decoders; the arrays of `sparse` must not change while the snapshot is used."""
        return self.decoder.searcher.new_snapshot(weights, sparse)

    def difference(self, example: TrainingExample, snapshot: WeightSnapshot | None = None) -> Difference:
        """The update of the example under the weights of the snapshot or, without a snapshot, of the decoders."""
        with self.forced.prepare(example.given, example.reference, snapshot) as forced_search:
            gold = forced_search.score(example.lattice)
            if gold is None:
                return self._no_update()._replace(is_too_large=True)
            with self._search(example, forced_search.search, snapshot) as search:
                return self._compare(example, gold, self.beam(example, search))

    @contextmanager
    def _search(
        self, example: TrainingExample, of_gold: SentenceSearch, snapshot: WeightSnapshot | None
    ) -> Iterator[SentenceSearch]:
        """Yield a search for the beam: `of_gold`, unless y-good derivations have another table limit."""
        if self.forced.decoder is self.decoder:
            yield of_gold
            return
        with self.decoder.searcher.prepare(example.given, snapshot=snapshot) as search:
            search.look_up()
            yield search

    def _compare(self, example: TrainingExample, gold: GoldGraph, beam_result: BeamResult) -> Difference:
        closest = self._closest(beam_result, example) if self.update == "local" else None
        if closest == beam_result.beam.bad_edge[beam_result.n_words]:
            closest = None  # no hypothesis is more like the reference than the best y-bad one
        bins, nodes = self.bins(gold, beam_result, closest)
        update = UPDATES[self.update](bins, self.decoder.searcher.longest)
        if update is None:
            return self._no_update()._replace(is_solved=bins.is_solved, n_bins=beam_result.n_words)
        is_complete = update.bin == len(example.given.words)
        if update.closest and closest is not None:
            better, of_better = beam_result.derivation(closest), beam_result.result
        else:
            better, of_better = gold.derivation(int(nodes[update.bin])), gold.result
        worse = beam_result.derivation(int(beam_result.beam.bad_edge[update.bin]))
        dense, *sparse = of_better.vector(better, is_complete)
        worse_dense, *worse_sparse = beam_result.result.vector(worse, is_complete)
        return Difference(
            dense - worse_dense,
            *_subtract(sparse, worse_sparse),
            bins.is_solved,
            beam_result.n_words,
            bin=update.bin,
            lead=lead(bins, update),
            better=of_better.with_model_pairs(better),
            worse=beam_result.result.with_model_pairs(worse),
        )

    def _no_update(self) -> Difference:
        dense, empty = np.zeros(self.decoder.features.size), np.zeros(0)
        return Difference(dense, empty.astype(np.uint64), empty, empty.astype(np.int64))

    def bins(self, gold: GoldGraph, beam_result: BeamResult, closest: int | None) -> tuple[Bins, np.ndarray]:
        """The scores of all bins, and the best node of each bin in the gold graph (int64[n + 1]).

        `closest`: edge of the hypothesis that is most like the reference; None if that is the best y-bad one.
        """
        n_words, beam, graph = beam_result.n_words, beam_result.beam, beam_result.graph
        nodes, priority = np.empty(n_words + 1, np.int64), np.empty(n_words + 1)
        best_good(gold.graph, n_words, beam_result.result.workspace.future, self.future_share, nodes, priority)
        good = np.where(nodes < 0, -np.inf, gold.graph.score[np.maximum(nodes, 0)])
        has_both = np.isfinite(priority) & np.isfinite(beam.bad_priority)
        violation = np.full(n_words + 1, -np.inf)
        violation[has_both] = beam.bad_priority[has_both] - priority[has_both] + self.margin
        last = graph.stack_first[n_words]
        is_solved = bool(last < graph.stack_first[n_words + 1]) and self._is_solved(beam_result, int(last))
        bad = beam.bad + self.margin
        is_solved = is_solved and (self.margin == 0 or bool(good[n_words] > bad[n_words]))
        score = -np.inf if closest is None else float(graph.edge_score[closest])
        return Bins(good, bad, violation, beam.has_good, is_solved, score), nodes

    @staticmethod
    def _is_solved(beam_result: BeamResult, best: int) -> bool:
        position = int(beam_result.beam.position[best])
        return position == beam_result.reference.size if beam_result.is_whole else bool(position != NOT_GOOD)

    def beam(self, example: TrainingExample, search: SentenceSearch) -> BeamResult:
        """Search the part of the sentence that the lattice covers, and return the beam."""
        lattice, searcher = example.lattice, self.decoder.searcher
        n_words = int(lattice.first_gap[lattice.is_end].max())
        search.run_part(n_words)
        reference = target_ids(example.reference, search.source, searcher.model)
        workspace, is_whole = search.workspace, n_words == len(search.source.words)
        graph, options, future = workspace.graph, workspace.options, workspace.future
        beam = new_beam(n_words, int(graph.stack_first[n_words + 1]))
        fill_beam(graph, options, n_words, is_whole, reference, future, self.future_share, beam)
        return BeamResult(searcher.result(search), reference, n_words, beam)

    def _closest(self, beam_result: BeamResult, example: TrainingExample) -> int | None:
        """The edge of the hypothesis in the last bin with the best smoothed BLEU; among equals, with the best score."""
        graph, lattice, words_of = beam_result.graph, example.lattice, beam_result.result.words_of
        nodes = slice(*graph.stack_first[beam_result.n_words : beam_result.n_words + 2])
        first = graph.edge_first[nodes.start : nodes.stop + 1]
        edges = np.arange(first[0], first[-1]) if beam_result.is_whole else first[:-1]
        target = int(lattice.position[lattice.is_end].max())
        metric = make_metric("bleu", [[" ".join(example.reference[:target])]])
        derivations = (beam_result.result.with_model_pairs(beam_result.derivation(edge)) for edge in edges.tolist())
        texts = [" ".join(word for pair in one.pair.tolist() for word in words_of(pair)) for one in derivations]
        scores = metric.sentence_scores(metric.statistics(np.zeros(len(texts), np.int64), texts))
        ranked = np.lexsort((-edges, graph.edge_score[edges], scores))
        return int(edges[ranked[-1]]) if edges.size else None


def _subtract(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys, values and groups of the sparse vector `left` minus `right`, without zeros."""
    keys, first, key_index = np.unique(np.concatenate([left[0], right[0]]), return_index=True, return_inverse=True)
    values = np.bincount(key_index, np.concatenate([left[1], -right[1]]), keys.size)
    groups = np.concatenate([left[2], right[2]])[first]
    differs = values != 0
    return keys[differs], values[differs], groups[differs]
