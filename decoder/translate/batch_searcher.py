"""The best translations of plain sentences in batches, see decoder/search/sentence_batch.py."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from threading import Lock

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.base.memory_bound import room_for_pages
from phrasebeam.decoder.features.registry import OF_UNKNOWN_WORDS
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.options.translation_options import FULL
from phrasebeam.decoder.output.batch_texts import batch_texts
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
)
from phrasebeam.decoder.search.sentence_search import SentenceSearch
from phrasebeam.decoder.search.stacks import STOPPED, WRONG_SCORE
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.tables.phrase_table import ABSENT
from phrasebeam.decoder.translate.searcher import Searcher
from phrasebeam.kernels.compiled_calls import IS_COMPILED
from phrasebeam.lm.text.line_words import LineWords, line_words

MOST_SENTENCES = 64  # at most, in a batch
BYTES_PER_SENTENCE = 64 << 20  # more than a sentence reads of a large table, in pages of memory
_compiling = Lock()


@dataclass(frozen=True)
class FoundBatch:
    """The best translations of the leading sentences of a batch."""

    texts: Sequence[str]
    searcher: Searcher
    snapshot: WeightSnapshot
    lines: LineWords
    found: BestDerivations

    def translations(self) -> Iterator[Translation]:
        """The translations; details besides the text are computed when they are needed."""
        for i, (text, score) in enumerate(zip(self.texts, self.found.score.tolist())):
            later = _Later(self, i)
            yield Translation(text, score, later.features, later.phrases)


class BatchSearcher:
    """Searches with the model and limits of a Searcher; any number of threads may share one."""

    def __init__(self, searcher: Searcher):
        self._searcher = searcher
        self._calls: BatchCalls | None = None  # set with the first batch
        copies_unknown = searcher.input_settings.oov == "copy"
        is_usual = type(searcher) is Searcher and not searcher.model.levels and copies_unknown
        self._takes_batches = IS_COMPILED and is_usual

    def __getstate__(self) -> dict[str, object]:
        """Everything but the calls, whose addresses are those of this process."""
        return vars(self) | {"_calls": None}

    def best(self, lines: Sequence[str]) -> FoundBatch | None:
        """The translations of the leading lines (tokenized) that have words and no error; None without batches."""
        searcher, snapshot = self._searcher, self._searcher.snapshot
        if not self._takes_batches or any(snapshot.layout.has(one.name) for one in OF_UNKNOWN_WORDS):
            return None
        most = int(max(1, min(MOST_SENTENCES, room_for_pages() / BYTES_PER_SENTENCE)))  # the room may be infinite
        with _compiling:  # one thread compiles, and the others wait for it
            calls = self._calls = self._calls or self._compiled(snapshot)
        try:
            packed = self._packed(list(takewhile(_has_words, lines[:most])))
        except (ModelError, UnicodeEncodeError):  # the search of a single sentence reports the error with the sentence
            return None
        with searcher.workspaces.borrow() as workspace:
            found, n_found = self._search(packed, calls, snapshot, workspace)
        table, target = searcher.model.tables.phrases, searcher.model.target.encoded
        texts = batch_texts(found, n_found, table, target, packed.lines, packed.unknown)
        return FoundBatch(texts, searcher, snapshot, packed.lines, found)

    def _compiled(self, snapshot: WeightSnapshot) -> BatchCalls:
        """The kernels for batches. Those that are not in the cache are compiled, in two processes at the same time."""
        searcher = self._searcher
        with searcher.workspaces.borrow() as workspace:
            one = self._sentence_search(0, 0, snapshot, workspace)
            return calls_for(one.lookup(), one.space(), workspace.queues, searcher.settings, self._translate_nothing)

    def _translate_nothing(self) -> None:
        """Compile what a batch needs besides the search."""
        packed, tables = self._packed(()), self._searcher.model.tables
        target = self._searcher.model.target.encoded
        batch_texts(new_found(packed.batch), 0, tables.phrases, target, packed.lines, packed.unknown)

    def _sentence_search(
        self, n_words: int, n_unknown: int, snapshot: WeightSnapshot, workspace: Workspace
    ) -> SentenceSearch:
        """The search of sentences of up to `n_words` words, `n_unknown` of them unknown."""
        searcher, tables = self._searcher, FilteredTables(snapshot.tables, None)
        workspace.adopt(snapshot)
        largest = largest_sentence(searcher.model, n_words, n_unknown, searcher.longest)
        prepared = PreparedSentence([], (), [], largest, tables)
        return SentenceSearch(searcher.model, searcher.settings, snapshot, workspace, prepared)

    def _packed(self, lines: Sequence[str]) -> "_PackedBatch":
        """Raises ModelError if the phrase table is damaged."""
        searcher, model = self._searcher, self._searcher.model
        words = line_words(lines, model.source)
        checks, longest = searcher.preparer.bounds_checks, searcher.longest
        sources = checks.span_sources(words.ids, words.offsets, longest, longest)
        unknown = (sources[::longest] == ABSENT).nonzero()[0]
        unknown_words = [words.word(i) for i in unknown.tolist()]
        unknown_offsets = np.searchsorted(unknown, words.offsets)
        target_words, new_words, lm_offsets = self._new_words(unknown_words, unknown_offsets)
        lm_ids = np.empty((len(new_words), len(model.language_models)), np.int32)
        for column, one in enumerate(model.language_models):
            lm_ids[:, column] = one.word_ids(new_words)
        positions = unknown - np.repeat(words.offsets[:-1], np.diff(unknown_offsets))
        of_unknown = unknown_offsets, positions, target_words, lm_offsets, lm_ids
        return _PackedBatch(words, unknown, SentenceBatch(words.offsets, words.ids, sources, *of_unknown))

    def _new_words(self, unknown: Sequence[str], offsets: np.ndarray) -> tuple[np.ndarray, list[str], np.ndarray]:
        """Target ids of unknown words, those among them that the target vocabulary lacks, and offsets by sentence."""
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
        self, packed: "_PackedBatch", calls: BatchCalls, snapshot: WeightSnapshot, workspace: Workspace
    ) -> tuple[BestDerivations, int]:
        """The best derivations of the leading sentences, and the number of these."""
        batch, found = packed.batch, new_found(packed.batch)
        one = self._sentence_search(packed.most_words, packed.most_unknown, snapshot, workspace)
        images, n_found, is_stuck = new_images(calls, packed.most_words, self._searcher.longest), 0, False
        while n_found < batch.offsets.size - 1 and not is_stuck:
            lookup, queues = one.lookup()._replace(is_lazy=calls.is_cube), workspace.queues
            n_found = search_all(lookup, one.space(), queues, calls, batch, images, n_found, found)
            is_stuck = n_found < batch.offsets.size - 1 and not _grown(workspace, *found.status.tolist())
        return found, n_found


@dataclass(frozen=True)
class _PackedBatch:
    """Tokenized lines as arrays for kernels."""

    lines: LineWords
    unknown: np.ndarray  # int64[K], indices of the unknown words among all words
    batch: SentenceBatch

    @property
    def most_words(self) -> int:
        """Number of words in the longest sentence."""
        return int(np.diff(self.batch.offsets).max(initial=0))

    @property
    def most_unknown(self) -> int:
        """Number of unknown words in the sentence with most of them."""
        return int(np.diff(self.batch.unknown_offsets).max(initial=0))


class _Later:
    """Details of the translation of sentence `i` besides its text, computed from its derivation when needed."""

    def __init__(self, batch: FoundBatch, i: int):
        self._batch, self._i = batch, i

    @cached_property
    def _whole(self) -> Translation:
        searcher, snapshot, found, i = self._batch.searcher, self._batch.snapshot, self._batch.found, self._i
        source = prepare_sentence(
            Input([self._batch.lines.word(k) for k in range(*self._batch.lines.offsets[i : i + 2].tolist())]),
            searcher.model,
            FilteredTables(snapshot.tables, None),
            searcher.longest,
            searcher.input_settings,
            searcher.preparer.bounds_checks,
        )
        view = DerivationView(source, searcher.model, snapshot.dense, snapshot.layout, searcher.table_words)
        phrases = slice(*found.offsets[i : i + 2].tolist())
        derivation = Derivation(found.pair[phrases], found.begin[phrases], found.end[phrases])
        return view.translation(derivation, found.score[i].item())

    def features(self) -> dict[str, float | list[float]]:
        return self._whole.features

    def phrases(self) -> tuple[Phrase, ...]:
        return self._whole.phrases


def is_plain(given: Input) -> bool:
    """Whether a sentence has only words, without instructions."""
    has_more = given.terms or given.walls or given.zones or given.prefix.words or given.tags
    return bool(given.words) and not has_more and given.held_out is None and given.lattice is None


def _has_words(line: str) -> bool:
    """Whether a line has a word.

    False also for lines that contain only white space beyond ASCII, which counts as words: these are searched alone.
    """
    return bool(line) and not line.isspace()


def _grown(workspace: Workspace, why: int, status: int) -> bool:
    """Enlarge the workspace if it was too small; return whether it was."""
    if why == NO_OPTIONS and status == FULL:
        workspace.grow_options()
        return True
    if why == NOT_SEARCHED and status not in (STOPPED, WRONG_SCORE):
        workspace.grow(status)
        return True
    return False
