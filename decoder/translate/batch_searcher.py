"""The best translations of plain sentences in batches, see decoder/search/sentence_batch.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.registry import RELATED_WORDS
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.options.translation_options import FULL
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.derivation_view import DerivationView
from phrasebeam.decoder.output.translation import Phrase, Translation
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence, prepare_sentence
from phrasebeam.decoder.search.sentence_batch import (
    NO_OPTIONS,
    NOT_SEARCHED,
    BatchCalls,
    BestDerivations,
    SentenceBatch,
    calls_for,
    largest_sentence,
    new_found,
    new_images,
    search_all,
    write_all_images,
)
from phrasebeam.decoder.search.sentence_search import SentenceSearch
from phrasebeam.decoder.search.stacks import STOPPED, WRONG_SCORE
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.translate.searcher import Searcher
from phrasebeam.kernels.compiled_calls import IS_COMPILED

MOST_SENTENCES = 64  # of a batch


@dataclass(frozen=True)
class _PackedBatch:
    """A batch, and its words as people see them."""

    batch: SentenceBatch
    unknown_words: list[str]
    most_words: int
    most_unknown: int


class BatchSearcher:
    """Searches by the model and limits of a Searcher; any number of threads may share one."""

    def __init__(self, searcher: Searcher):
        self._searcher = searcher
        self._calls: BatchCalls | None = None  # known once there was a batch
        copies_unknown = searcher.input_settings.oov == "copy"
        is_usual = type(searcher) is Searcher and not searcher.model.levels and copies_unknown
        self._takes_batches = IS_COMPILED and is_usual

    def best(self, sentences: Sequence[Input]) -> list[Translation]:
        """The best translations of the first of the sentences, as far as they are plain and nothing is wrong."""
        searcher, snapshot = self._searcher, self._searcher.snapshot
        if not self._takes_batches or snapshot.layout.has(RELATED_WORDS.name):
            return []
        plain = list(takewhile(is_plain, sentences[:MOST_SENTENCES]))
        if not plain:
            return []
        try:
            packed = self._packed(plain)
        except ModelError:  # which the search of the sentence alone tells with its name
            return []
        with searcher.workspaces.borrow() as workspace:
            found, n_found = self._search(packed, snapshot, workspace)
        return self._translations(plain[:n_found], packed, found, snapshot)

    def _packed(self, sentences: Sequence[Input]) -> _PackedBatch:
        """Raises ModelError if the phrase table is damaged."""
        searcher, model = self._searcher, self._searcher.model
        words = [word for given in sentences for word in given.words]
        lengths = [len(given.words) for given in sentences]
        ids, offsets = model.source.ids(words), _offsets(lengths)
        unknown = searcher.preparer.bounds_checks.is_oov(ids, searcher.longest).nonzero()[0]
        unknown_words = [words[i] for i in unknown.tolist()]
        unknown_offsets = np.searchsorted(unknown, offsets)
        target_words, new_words, lm_offsets = self._new_words(unknown_words, unknown_offsets)
        lm_ids = np.empty((len(new_words), len(model.language_models)), np.int32)
        for column, one in enumerate(model.language_models):
            lm_ids[:, column] = one.word_ids(new_words)
        of_sentence = np.repeat(offsets[:-1], np.diff(unknown_offsets))
        batch = SentenceBatch(offsets, ids, unknown_offsets, unknown - of_sentence, target_words, lm_offsets, lm_ids)
        most_unknown = int(np.diff(unknown_offsets).max(initial=0))
        return _PackedBatch(batch, unknown_words, max(lengths, default=0), most_unknown)

    def _new_words(self, unknown: Sequence[str], offsets: np.ndarray) -> tuple[np.ndarray, list[str], np.ndarray]:
        """Target ids of unknown words, those that are no target words, and offsets of these by sentence."""
        target_words, new, lm_offsets = self._searcher.model.target.ids(unknown), list[str](), [0]
        n_known, bounds = len(self._searcher.model.target), offsets.tolist()
        for begin, end in pairwise(bounds):
            own: dict[str, int] = {}
            for k in range(begin, end):
                if target_words[k] < 0:
                    target_words[k] = n_known + own.setdefault(unknown[k], len(own))
            new += own
            lm_offsets.append(len(new))
        return target_words, new, np.array(lm_offsets)

    def _search(
        self, packed: _PackedBatch, snapshot: WeightSnapshot, workspace: Workspace
    ) -> tuple[BestDerivations, int]:
        """The best derivations of the first sentences, and their number."""
        searcher, batch, found = self._searcher, packed.batch, new_found(packed.batch)
        workspace.adopt(snapshot)
        tables = FilteredTables(snapshot.tables, None)
        largest = largest_sentence(searcher.model, packed.most_words, packed.most_unknown, searcher.longest)
        one = SentenceSearch(
            searcher.model, searcher.settings, snapshot, workspace, PreparedSentence([], (), [], largest, tables)
        )
        n_found, is_stuck = 0, False
        while n_found < batch.offsets.size - 1 and not is_stuck:
            lookup, space, queues = one.lookup(), one.space(), workspace.queues
            if self._calls is None:
                self._calls = calls_for(lookup, space, queues, searcher.settings, batch)
            images = new_images(self._calls, batch, searcher.longest)
            write_all_images(lookup, space, self._calls, batch, images)
            n_found = search_all(lookup, space, queues, self._calls, images, n_found, found)
            is_stuck = n_found < batch.offsets.size - 1 and not _grown(workspace, *found.status.tolist())
        return found, n_found

    def _translations(
        self, sentences: Sequence[Input], packed: _PackedBatch, found: BestDerivations, snapshot: WeightSnapshot
    ) -> list[Translation]:
        words, translations = self._searcher.table_words, list[Translation]()
        offsets, pairs, scores = found.offsets.tolist(), found.pair.tolist(), found.score.tolist()
        first_unknown = packed.batch.unknown_offsets.tolist()
        for i, given in enumerate(sentences):
            begin, end, unknown = offsets[i], offsets[i + 1], first_unknown[i]
            text = list[str]()
            for pair in pairs[begin:end]:
                text += words(pair) if pair >= 0 else (packed.unknown_words[unknown - 1 - pair],)
            derivation = Derivation(found.pair[begin:end], found.begin[begin:end], found.end[begin:end])
            later = _Later(self._searcher, snapshot, given, derivation, scores[i])
            translations.append(Translation(" ".join(text), scores[i], later.features, later.phrases))
        return translations


class _Later:
    """What a translation has besides its text, from its derivation, when it is asked for."""

    def __init__(
        self, searcher: Searcher, snapshot: WeightSnapshot, given: Input, derivation: Derivation, score: float
    ):
        self._searcher, self._snapshot, self._given = searcher, snapshot, given
        self._derivation, self._score = derivation, score

    @cached_property
    def _whole(self) -> Translation:
        searcher, snapshot = self._searcher, self._snapshot
        source = prepare_sentence(
            self._given,
            searcher.model,
            FilteredTables(snapshot.tables, None),
            searcher.longest,
            searcher.input_settings,
            searcher.preparer.bounds_checks,
        )
        view = DerivationView(source, searcher.model, snapshot.dense, snapshot.layout, searcher.table_words)
        return view.translation(self._derivation, self._score)

    def features(self) -> dict[str, float | list[float]]:
        return self._whole.features

    def phrases(self) -> tuple[Phrase, ...]:
        return self._whole.phrases


def is_plain(given: Input) -> bool:
    """Whether a sentence is words alone."""
    has_more = given.terms or given.walls or given.zones or given.prefix.words or given.tags
    return bool(given.words) and not has_more and given.held_out is None and given.lattice is None


def _offsets(lengths: Sequence[int]) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _grown(workspace: Workspace, why: int, status: int) -> bool:
    """Whether the workspace was too small and has been made larger."""
    if why == NO_OPTIONS and status == FULL:
        workspace.grow_options()
        return True
    if why == NOT_SEARCHED and status not in (STOPPED, WRONG_SCORE):
        workspace.grow(status)
        return True
    return False
