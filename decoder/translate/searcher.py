"""The searcher of sentences, shared by translation, forced decoding and learning."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from phrasebeam.base.memory_bound import room_for_pages
from phrasebeam.base.pool import Pool
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.candidates import RankingWeights
from phrasebeam.decoder.output.derivation_view import cached_target_words
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.prepared_sentence import PreparerSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.sentence_preparer import SentencePreparer
from phrasebeam.decoder.search.sentence_search import SentenceSearch
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot, ranking_weights, weight_snapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.translate.letter_forms import LETTER_SEARCH, LetterForms
from phrasebeam.decoder.unknown_words.spelled_pairs import TranslateLetters


class Searcher:
    """A model, the weights that new searches use, and a pool of workspaces; any number of threads may share one."""

    def __init__(
        self,
        model: Model,
        settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
        folds: Sequence[Fold] = (),
    ):
        """Parameters are those of Decoder; raises ModelError if the weights do not fit the model."""
        self.model, self.settings, self.input_settings = (
            model,
            settings or SearchSettings(),
            input_settings or InputSettings(),
        )
        self.longest = min(self.settings.max_phrase_length, model.description.max_source_phrase_length)
        preparer_settings = PreparerSettings(self.longest, self.settings.table_limit, self.input_settings)
        self.preparer = self._new_preparer(folds, preparer_settings)
        self._ranking: RankingWeights | None = None
        self.snapshot = self.new_snapshot(weights or model.weights, model.tables.sparse.weights)
        self.workspaces = Pool(lambda: Workspace(model, self.settings, self.longest))
        self.table_words = cached_target_words(model)

    def within(self, settings: SearchSettings) -> "Searcher":
        """A searcher with the same model and its own weights, within other limits."""
        return Searcher(self.model, settings, input_settings=self.input_settings)

    def _new_preparer(self, folds: Sequence[Fold], settings: PreparerSettings) -> SentencePreparer:
        return SentencePreparer(self.model, folds, settings, self._translate_letters())

    def _translate_letters(self) -> TranslateLetters | None:
        """What translates single words with the model of letters, if the model has one."""
        return LetterForms(Searcher(self.model.letters, LETTER_SEARCH).search) if self.model.letters else None

    def new_snapshot(self, weights: Weights, sparse: SparseWeights) -> WeightSnapshot:
        """A snapshot of other weights, to be assigned to `snapshot`. Raises ModelError if they do not fit the model."""
        return weight_snapshot(self.model, self.settings, weights, sparse, self._ranking)

    def rank_by(self, weights: Weights) -> None:
        """Let later snapshots select the pairs within the table limit by `weights`, not by the weights of the search.

        Learning that starts from zero weights needs this; so do caches of selected pairs if weights change every
        sentence.
        """
        self._ranking = ranking_weights(self.new_snapshot(weights, self.model.tables.sparse.weights))
        self.snapshot = self.snapshot._replace(ranking=self._ranking)

    @contextmanager
    def prepare(
        self, given: Input, reference: np.ndarray | None = None, snapshot: WeightSnapshot | None = None
    ) -> Iterator[SentenceSearch]:
        """Yield the prepared sentence in a workspace of its own until the context ends; nothing is looked up yet.

        The search keeps the weights with which it begins: those of `snapshot`, or the searcher's own. For `reference`
        (int32[m]) see TableFilter.filter.
        """
        snapshot = snapshot or self.snapshot
        room_for_pages()
        with self.workspaces.borrow() as workspace:
            workspace.adopt(snapshot)
            source = self.preparer.prepare(given, snapshot, workspace, reference)
            model = source.own_model or self.preparer.model_for(given)
            search = SentenceSearch(model, self.settings, snapshot, workspace, source)
            try:
                yield search
            finally:
                search.end()

    @contextmanager
    def search(
        self, given: Input, snapshot: WeightSnapshot | None = None, stop: StopFlag | None = None
    ) -> Iterator[SearchResult]:
        """Yield the result of searching a sentence, readable until the context ends; for `snapshot` see `prepare`.

        Raises InterruptedError when another thread sets the flag `stop`.
        """
        with self.prepare(given, snapshot=snapshot) as search:
            search.stop = stop or search.stop
            search.run(given.prefix)
            yield self.result(search)

    def result(self, search: SentenceSearch) -> SearchResult:
        """The SearchResult of a search up to its present state; it can be read until the search ends."""
        snapshot, own = search.snapshot, search.source.own_model
        table_words = cached_target_words(own) if own else self.table_words
        return SearchResult(search.source, own or self.model, snapshot.dense, snapshot.layout, table_words, search)
