"""A decoder that learns from the translations that people confirm (Ortiz-Martínez et al. 2010)."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Self

import numpy as np

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.dynamic_language_model import compensated
from phrasebeam.decoder.adaptation.journal import Journal, fields
from phrasebeam.decoder.adaptation.project_memory import ProjectMemory
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.output.mbr import Evidence, MbrSettings
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence, PreparerSettings, prepare_sentence
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.sentence_preparer import SentencePreparer
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.translate.searcher import Searcher
from phrasebeam.decoder.translate.translator import TRANSLATION, Decoder, Sentence
from phrasebeam.decoder.translation_memory.matched_terms import with_matched_terms
from phrasebeam.decoder.translation_memory.memory_files import MemoryFile
from phrasebeam.decoder.translation_memory.segment import NewSegment, Segment
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch
from phrasebeam.decoder.unknown_words.spelled_pairs import TranslateLetters
from phrasebeam.lm.text.corpus import split, words_of


class AdaptedPreparer(SentencePreparer):
    """Prepares each sentence with its own tables: the pairs of the model and those of confirmed segments."""

    def __init__(
        self,
        memory: ProjectMemory,
        folds: Sequence[Fold],
        settings: PreparerSettings,
        translate_letters: TranslateLetters | None,
    ):
        """`folds`: empty, since no sentence here is from the training data."""
        super().__init__(memory.model, folds, settings, translate_letters)
        self.memory, self._related = memory, memory.static.related

    def prepare(
        self, given: Input, snapshot: WeightSnapshot, workspace: Workspace, reference: np.ndarray | None = None
    ) -> PreparedSentence:
        """Prepare the sentence as SentencePreparer.prepare, with all segments that are confirmed when it begins."""
        if given.lattice is not None or given.held_out is not None:
            raise ConfigError("adaptation is for text, not for lattices or leave-one-out; leave out one of them")
        ids, whole = self.model.source.ids(list(given.words)), snapshot.tables
        self.bounds_checks.check(ids, self.settings.longest)
        filtered = self._table_filter(given, snapshot, workspace).filter(ids, reference, None)
        with self.memory.tables(whole, filtered, ids, reference) as (tables, model):
            checks, settings = BoundsChecks(tables.tables), self.settings
            unknown_words = self._unknown_words(given, snapshot.layout)
            source = prepare_sentence(given, model, tables, settings.longest, settings.input, checks, unknown_words)
        return source._replace(own_model=model)


class AdaptedSearcher(Searcher):
    """A searcher with a model and the confirmed segments of a project."""

    def __init__(
        self,
        memory: ProjectMemory,
        settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
    ):
        """`weights` are those of the model alone."""
        self.memory = memory
        super().__init__(memory.model, settings, weights, input_settings)

    def within(self, settings: SearchSettings) -> "AdaptedSearcher":
        """Return a searcher as Searcher.within does, with the same confirmed translations."""
        return AdaptedSearcher(self.memory, settings, input_settings=self.input_settings)

    def _new_preparer(self, folds: Sequence[Fold], settings: PreparerSettings) -> SentencePreparer:
        return AdaptedPreparer(self.memory, folds, settings, self._translate_letters())

    def new_snapshot(self, weights: Weights, sparse: SparseWeights) -> WeightSnapshot:
        """A snapshot of other weights of the model, and of the language model of the confirmed segments."""
        return super().new_snapshot(compensated(weights, self.memory.settings), sparse)._replace(named=weights)


@dataclass(frozen=True)
class AdaptedAnswer(Answer):
    """An answer, and the most similar confirmed segment, if one is similar enough."""

    match: SegmentMatch | None = None


class AdaptedDecoder(Decoder):
    """A decoder that learns at once from confirmed translations; any number of threads may share one.

    >>> decoder = AdaptedDecoder.load("model")
    >>> decoder.translate("der zwinger schläft .").text
    'the zwinger sleeps .'
    >>> decoder.confirm("der zwinger schläft .", "the kennel sleeps .").number
    1
    >>> decoder.translate("im zwinger schläft die katze .").text  # doctest: +SKIP
    'in the kennel sleeps the cat .'
    """

    @checked
    def __init__(
        self,
        model: Model,
        search_settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
        adaptation: AdaptationSettings | None = None,
        journal: str | Path | None = None,
        static: StaticCounts | None = None,
        files: Sequence[MemoryFile] = (),
    ):
        """Parameters are those of Decoder and of ProjectMemory; `journal` is a file, created if it does not exist.

        Raises ConfigError if another process has the journal open, FormatError if it is damaged.
        """
        opened = Journal(journal) if journal else None
        with ExitStack() as stack:
            if opened:
                stack.callback(opened.close)
            self.memory = ProjectMemory(model, adaptation, opened, static, files)
            stack.pop_all()
        self._begin(AdaptedSearcher(self.memory, search_settings, weights, input_settings))

    @classmethod
    @checked
    def load(
        cls,
        directory: str | Path,
        search_settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
        adaptation: AdaptationSettings | None = None,
        journal: str | Path | None = None,
        files: Sequence[MemoryFile] = (),
    ) -> "AdaptedDecoder":
        """Load the model in `directory`, as Decoder.load does, and learn the segments of `journal`, if it contains any.

        `files`: translation memories, see read_memory.
        """
        return cls._of(directory, search_settings, weights, input_settings, adaptation, journal, None, files)

    @classmethod
    @checked
    def of(
        cls,
        decoder: Decoder,
        journal: str | Path | None = None,
        static: StaticCounts | None = None,
        files: Sequence[MemoryFile] = (),
    ) -> "AdaptedDecoder":
        """A decoder that learns, with the model, limits, dense weights, request and second model of `decoder`.

        Further parameters are those of AdaptedDecoder; raises what it raises.

        >>> AdaptedDecoder.of(Decoder.load("model")).translate("der hund schläft .").text
        'the dog sleeps .'
        """
        how = decoder.search_settings, decoder.weights, decoder.searcher.input_settings
        learning = cls(decoder.model, *how, None, journal, static, files)
        learning._share(decoder)
        return learning

    @checked
    def within(self, search_settings: SearchSettings) -> Self:
        """A decoder with the same confirmed translations and other search limits; see Decoder.within."""
        other = super().within(search_settings)
        other.memory = self.memory
        return other

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a decoder that learns cannot be pickled; load it by its directory and journal")

    @checked
    def confirm(self, source: str | Sequence[str], translation: str | Sequence[str], key: str = "") -> Segment:
        """Learn the confirmed translation of a tokenized sentence; the next translation uses it.

        With a journal, the segment is on disk when this returns. `key`: the caller's name for the segment; a segment
        with the same key is learned only once. Raises ConfigError if a side has no words. Raises ChangedJournalError,
        an SmtError, if another program has removed, replaced or cut the journal: then the segment is not learned, the
        decoder reads the journal again (a removed journal is created anew), and the next call can succeed.
        """
        confirmed = words_of(translation)
        return self.memory.confirm(self.input_of(source).words, confirmed, key)

    def confirm_all(self, segments: Iterable[NewSegment]) -> list[Segment]:
        """Learn several segments as `confirm` does, in less time. If one is refused, those before it are learned."""
        return self.memory.confirm_all(segments)

    @checked
    def match(self, source: Sentence) -> SegmentMatch | None:
        """The confirmed segment that is most similar to a tokenized sentence; None if none is similar enough.

        >>> decoder = AdaptedDecoder.load("model")
        >>> segment = decoder.confirm("der zwinger schläft .", "the kennel sleeps .")
        >>> decoder.match("der zwinger schläft nicht .").similarity
        0.8
        """
        return self.memory.match(self.input_of(source).words)

    @checked
    def answer(self, line: Sentence, request: Request = TRANSLATION, stop: StopFlag | None = None) -> AdaptedAnswer:
        """Answer a request as Decoder.answer does, together with the most similar confirmed segment."""
        given, match = self._matched(line)
        found = self._answer(given, request, stop)
        return AdaptedAnswer(found.translation, found.nbest, found.lattice, match)

    def evidence(self, given: Input, risk: MbrSettings, stop: StopFlag | None = None) -> Evidence | None:
        """That of Decoder, until a segment is confirmed: the second model learns none, and would outvote them."""
        if self.memory.segments:
            return None
        return super().evidence(given, risk, stop)

    def search_input(self, line: Sentence) -> Input:
        """The sentence with terms from the most similar confirmed segment, for words that both share."""
        return self._matched(line)[0]

    def _matched(self, line: Sentence) -> tuple[Input, SegmentMatch | None]:
        given = self.input_of(line)
        match = self.memory.match(given.words)
        if match is None:
            return given, None
        return with_matched_terms(given, match, self.memory.settings.piece_probability), match

    @checked
    def undo(self, number: int) -> Segment:
        """Forget a segment by its number, as if it had never been confirmed. Raises ConfigError if there is none.

        Raises ChangedJournalError as `confirm` does.
        """
        return self.memory.undo(number)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All confirmed segments that were not undone, in their order."""
        return self.memory.segments

    @checked
    def export(self, path: str | Path) -> int:
        """Write the segments to a file, one JSON object per line, and return their number."""
        segments = self.segments
        with atomic_file(path) as file:
            for segment in segments:
                file.write((json.dumps(fields(segment), ensure_ascii=False) + "\n").encode("utf-8"))
        return len(segments)

    def close(self) -> None:
        """Close the journal, so that another process may open it."""
        if self.memory.journal:
            self.memory.journal.close()


def adapted_answers(
    decoder: AdaptedDecoder,
    inputs: Iterable[Input],
    confirmed: Path,
    request: Request,
    tokenize: Callable[[str], str],
) -> Iterator[tuple[Input, Answer]]:
    """Yield each sentence and its answer; after each, its line of the file `confirmed` is learned as its translation.

    This simulates post-editing. `tokenize` turns such a line into tokens. If either side is empty, nothing is learned.
    A line that the journal already has from the same place of the same text is not learned again, so that a stopped run
    can be repeated. Raises FormatError if the file has more or fewer lines than there are sentences.
    """
    for number, (given, line) in enumerate(zip_longest(inputs, read_lines(confirmed)), 1):
        if given is None:
            raise FormatError(confirmed, "more lines than there are sentences; give one for each", number)
        if line is None:
            raise FormatError(confirmed, f"ends after line {number - 1}, and there are more sentences")
        yield given, decoder.answer(given, request)
        translation = split(tokenize(line))
        if given.words and translation:
            text = f"{' '.join(given.words)}\n{' '.join(translation)}"
            decoder.confirm(given.words, translation, f"line {number} {zlib.crc32(text.encode('utf-8')):08x}")
