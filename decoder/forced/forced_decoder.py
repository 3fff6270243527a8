"""Forced decoding as the Python API and the command use it: from sentence pairs to their y-good derivations."""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.pool import Pool
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_search import NO_LINKS, ForcedSearch, GoldGraph, Status
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.forced.forced_states import links_before
from phrasebeam.decoder.forced.forced_workspace import ForcedWorkspace
from phrasebeam.decoder.forced.gold_lattice import GoldLattice, ln_derivations
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.lattice import Lattice
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.prefix import target_ids
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.lm.text.corpus import words_of

ForcedPair = tuple[Input, tuple[str, ...]]  # sentence and reference


@dataclass(frozen=True)
class ForcedResult:
    """The derivations of a sentence pair or, if it is not reachable, of its longest reachable prefix pair."""

    status: Status
    source_words: int
    source_prefix: int = 0  # words; all of them if the whole pair is reachable
    target_prefix: int = 0
    best: Translation | None = None  # the best derivation under the model
    ln_derivations: float | None = None  # ln of the number of derivations in the lattice
    lattice: GoldLattice | None = None
    graph: Lattice | None = None  # the lattice with scores, if the decoder keeps it


class ForcedDecoder:
    """Finds derivations that produce given references; threads may share a forced decoder."""

    @checked
    def __init__(self, decoder: Decoder, settings: ForcedDecodingSettings | None = None, keeps_graphs: bool = False):
        """The limits of the search are the decoder's; if its table limit is 0, any pair of the table may be used.

        `keeps_graphs`: whether `force` returns lattices for users; it does not with the setting of all prefix pairs.
        """
        self.decoder, self.settings, self.keeps_graphs = decoder, settings or ForcedDecodingSettings(), keeps_graphs
        self._workspaces = Pool(lambda: ForcedWorkspace(self.settings.max_states))

    @classmethod
    @checked
    def load(
        cls,
        directory: str | Path,
        search_settings: SearchSettings | None = None,
        settings: ForcedDecodingSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
    ) -> "ForcedDecoder":
        """Load the model in `directory`; without `search_settings` there is no table limit.

        Raises SmtError, naming the file at fault.
        """
        limits = search_settings or SearchSettings(table_limit=0)
        return cls(Decoder(open_model(directory), limits, weights, input_settings=input_settings), settings)

    @checked
    def force(self, line: str | Input, reference: str | Sequence[str]) -> ForcedResult:
        """The derivations of a tokenized sentence that produce the tokenized `reference`."""
        given = self.decoder.input_of(line)
        with self.prepare(given, words_of(reference)) as search:
            status, lattice = search.lattice()
            if lattice is None:
                return ForcedResult(status, search.n_words)
            gold = search.score(lattice)
            return ForcedResult("too large", search.n_words) if gold is None else self._result(status, gold)

    def _result(self, status: Status, gold: GoldGraph) -> ForcedResult:
        result, lattice, node = gold.result, gold.lattice, gold.longest_end()
        # A coverage at the end of a derivation has no gap.
        source, target = int(gold.graph.first_gap[node]), int(gold.graph.lm_state[node])
        best = result.translation(gold.derivation(node), gold.score(node), gold.features(node))
        graph = result.lattice_of(gold.graph, source) if self.keeps_graphs else None
        n_words = len(result.source.words)
        return ForcedResult(status, n_words, source, target, best, ln_derivations(lattice), lattice, graph)

    @checked
    def force_all(
        self, pairs: Iterable[tuple[str | Input, str | Sequence[str]]], threads: int = 1
    ) -> Generator[ForcedResult]:
        """Yield `force` of each pair of sentence and reference, in order, as soon as those before it are ready."""
        yield from current_engine().map(lambda pair: self.force(*pair), pairs, threads)

    def lattice(self, given: Input, reference: Sequence[str]) -> tuple[Status, GoldLattice | None]:
        """The lattice of a sentence pair, see ForcedSearch.lattice."""
        with self.prepare(given, reference) as search:
            return search.lattice()

    @contextmanager
    def prepare(
        self, given: Input, reference: Sequence[str], snapshot: WeightSnapshot | None = None
    ) -> Iterator[ForcedSearch]:
        """Yield the search of a sentence pair with its options looked up, to be used within the context.

        For `snapshot` see Searcher.prepare.
        """
        searcher = self.decoder.searcher
        model = searcher.model
        wanted = model.target.ids(list(reference)) if searcher.settings.table_limit == 0 else None
        links = self._links(given, len(reference))
        with searcher.prepare(given, wanted, snapshot) as search, self._workspaces.borrow() as workspace:
            search.look_up()
            ids = target_ids(reference, search.source, model)
            yield ForcedSearch(searcher.result(search), workspace, self.settings, ids, links)

    def _links(self, given: Input, n_reference: int) -> np.ndarray:
        if not self.settings.needs_alignment:
            return NO_LINKS
        if given.held_out is None:
            name = "forcing.aligned" if self.settings.aligned else "forcing.prefixes closed"
            raise ConfigError(f"{name} needs word alignments, which come with leave_one_out; give both")
        return links_before(given.held_out.alignment, len(given.words), n_reference)


def render_forced(line: int, pair: ForcedPair, result: ForcedResult) -> str:
    """A line of JSON for the sentence pair in line `line` (1-based); without a derivation its parts are empty or null.

    segmentation: [source span, target span] of each phrase in target order, half open; alignment: [source, target].
    """
    best = result.best
    fields = {
        "line": line,
        "source": " ".join(pair[0].words),
        "reference": " ".join(pair[1]),
        "status": result.status,
        "source_prefix": result.source_prefix,
        "target_prefix": result.target_prefix,
        "segmentation": [[p.source_span, p.target_span] for p in best.phrases] if best else [],
        "alignment": best.alignment if best else [],
        "score": best.score if best else None,
        "features": best.features if best else None,
        "ln_derivations": result.ln_derivations,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
