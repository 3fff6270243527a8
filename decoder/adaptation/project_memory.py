"""Memory of a project: its confirmed segments, their counts, and the language model of their text."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.adapted_tables import adapted_tables
from phrasebeam.decoder.adaptation.confirmed_pairs import ConfirmedStatistics
from phrasebeam.decoder.adaptation.confirmed_text import IdPair
from phrasebeam.decoder.adaptation.dynamic_counts import DynamicCounts
from phrasebeam.decoder.adaptation.dynamic_language_model import DynamicLanguageModel
from phrasebeam.decoder.adaptation.journal import ChangedJournalError, Journal
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.model_alignment.word_aligner import WordAligner, alike_words
from phrasebeam.decoder.sparse.levels import Levels
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.tables.language_models import LanguageModels, TargetModel, join_language_models
from phrasebeam.decoder.tables.phrase_table import MOSES_SCORES
from phrasebeam.decoder.tables.word_counts import WordIdf
from phrasebeam.decoder.translation_memory.memory_files import MemoryFile
from phrasebeam.decoder.translation_memory.segment import NewSegment, Segment
from phrasebeam.decoder.translation_memory.similar_segments import SegmentMatch, SimilarSegments
from phrasebeam.lm.text.fixed_vocabulary import GrowingVocabulary


class CurrentModels(NamedTuple):
    """The language models of one moment; their arrays are in the memory of the models."""

    language_models: tuple[TargetModel, ...]
    lms: LanguageModels


class ProjectMemory:
    """The confirmed segments of a project; any number of threads may share it."""

    def __init__(
        self,
        model: Model,
        settings: AdaptationSettings | None = None,
        journal: Journal | None = None,
        static: StaticCounts | None = None,
        files: Sequence[MemoryFile] = (),
    ):
        """`journal` stores segments on disk, and provides those that it has; `static` may be given if computed.

        `files`: translation memories whose segments are found by `match`, but not learned.

        Raises ModelError if the model's phrase table does not have the four scores.
        """
        self.settings, self.journal = settings or AdaptationSettings(), journal
        if model.tables.phrases.ln_scores.shape[1] < MOSES_SCORES:
            raise ModelError("adaptation needs p(f|e), lex(f|e), p(e|f), lex(e|f); use a model that has these scores")
        self.static = static or StaticCounts(model, self.settings.prior_count)
        self._original, self._lock = model, threading.RLock()
        self._segments = dict[int, Segment]()
        self._numbers, self._n_confirmed = dict[str, int](), 0  # numbers by key
        self.files, self._aligned = (
            tuple(files),
            dict[tuple[str, int], Segment](),
        )  # segments of files by (file, number)
        self._similar = SimilarSegments()
        self._word_ids, self._sparse = model.tables.lms.word_ids, model.tables.sparse
        self._forget()
        source, target = GrowingVocabulary(model.source), GrowingVocabulary(model.target)
        self._vocabularies = source, target
        self._refresh()
        tables = model.tables._replace(lms=self._current.lms)
        # What searches use: the model, and a language model of what is confirmed so far
        self.model = model._replace(
            source=source, target=target, language_models=self._current.language_models, tables=tables
        )
        if journal:
            self._learn_all(journal)

    def _forget(self) -> None:
        self._counts = DynamicCounts(self.settings, self._original.description)
        self._language_model = DynamicLanguageModel(self._original.language_models[0], self.settings)

    def _learn_all(self, journal: Journal) -> None:
        """Learn the segments of the journal, which replace all known segments."""
        self._segments, self._numbers = {}, {}
        self._similar = SimilarSegments()
        for segment in journal.segments.values():
            self._keep(segment)
        self._count_all()
        self._n_confirmed = journal.n_confirmed
        self._refresh()

    def follow_journal(self) -> None:
        """Read and learn the journal again if another program has changed it.

        Raises as Journal.reopen does; then the memory has not changed.
        """
        with suppress(ChangedJournalError), self._agreeing():
            pass

    @contextmanager
    def _agreeing(self) -> Iterator[None]:
        """Hold the lock; if another program has changed the journal, learn it again before raising the error."""
        with self._lock:
            try:
                if self.journal:
                    self.journal.check_place()
                yield
            except ChangedJournalError:
                if self.journal:
                    self.journal.reopen()
                    self._learn_all(self.journal)
                raise

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        return self._counts.n_bytes

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments that are confirmed and not undone, in order of confirmation."""
        with self._lock:
            return tuple(self._segments.values())

    def confirm(self, source: Sequence[str], translation: Sequence[str], key: str = "") -> Segment:
        """Learn a translation (words) that someone has confirmed; it is in the journal when this returns.

        A segment whose `key` is known is not learned again. Raises ConfigError if a side has no words,
        ChangedJournalError if another program has changed the journal: then the memory has the journal's present
        segments.
        """
        return self.confirm_all([NewSegment(source, translation, key)])[0]

    def confirm_all(self, segments: Iterable[NewSegment]) -> list[Segment]:
        """Learn translations, each as `confirm` does, in less time. If one is refused, those before it are learned."""
        with self._agreeing():
            n_before = self._n_confirmed
            try:
                return [self._confirmed(*one) for one in segments]
            finally:
                if self._n_confirmed > n_before:
                    self._refresh()

    def _confirmed(self, source: Sequence[str], translation: Sequence[str], key: str) -> Segment:
        if key and key in self._numbers:
            return self._segments[self._numbers[key]]
        segment = Segment(self._n_confirmed + 1, tuple(source), tuple(translation), (), key)
        segment = replace(segment, alignment=self.align(source, translation))
        if self.journal:
            self.journal.confirm(segment)
        self._n_confirmed += 1
        self._keep(segment)
        self._count([segment])
        self._language_model.add(segment.translation)
        return segment

    def match(self, words: Sequence[str]) -> SegmentMatch | None:
        """The segment most similar to a sentence, if any reaches the settings' `similarity`.

        Of equally similar segments, a confirmed one comes first, then one of the first file.
        """
        least = self.settings.similarity
        with self._lock:
            found = [self._similar.best(words, least), *(file.best(words, least) for file in self.files)]
            best = max((match for match in found if match), key=lambda match: match.similarity, default=None)
            return best._replace(segment=self._with_alignment(best)) if best and best.origin else best

    def _with_alignment(self, match: SegmentMatch) -> Segment:
        """The segment of a file with its alignment, which is computed when the segment is first found."""
        place, segment = (match.origin, match.segment.number), match.segment
        if place not in self._aligned:
            self._aligned[place] = replace(segment, alignment=self.align(segment.source, segment.translation))
        return self._aligned[place]

    def align(self, source: Sequence[str], translation: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """The (source, target) positions of aligned words, by the statistics of the model alone."""
        known, target = self._original.source, self._original.target
        ids = known.ids(source, missing=len(known)), target.ids(translation, missing=len(target))
        return WordAligner(self.static.words).align(*ids, alike_words(source, translation))

    def undo(self, number: int) -> Segment:
        """Forget a segment, as if never confirmed. Raises ConfigError if there is none, and errors of `confirm`."""
        with self._agreeing():
            if number not in self._segments:
                raise ConfigError(f"there is no segment {number}, or it was undone; expected one of those in the list")
            if self.journal:
                self.journal.undo(number)
            segment = self._segments.pop(number)
            self._similar.remove(number)
            self._numbers.pop(segment.key, None)
            self._count_all()
            self._refresh()
            return segment

    def _keep(self, segment: Segment) -> None:
        self._segments[segment.number] = segment
        self._similar.add(segment)
        if segment.key:
            self._numbers[segment.key] = segment.number

    def _count_all(self) -> None:
        """Count all segments again; the language model gets only those that have not decayed."""
        self._forget()
        segments = list(self._segments.values())
        self._count(segments)
        for segment in segments[-self._language_model.most_segments :]:
            self._language_model.add(segment.translation)

    def _count(self, segments: Sequence[Segment]) -> None:
        """Count the words and phrase pairs of further segments; new words are added to the vocabularies."""
        source, target = self._vocabularies
        sources = source.add_all([segment.source for segment in segments])
        targets = target.add_all([segment.translation for segment in segments])
        self._enter_words([target.word(i) for i in range(len(self._word_ids), len(target))])
        self._counts.add([IdPair(*one) for one in zip(sources, targets, (segment.alignment for segment in segments))])

    def _enter_words(self, new: Sequence[str]) -> None:
        """Look up language model ids and classes of the words that were added to the target vocabulary."""
        if new:
            columns = [model.word_ids(new) for model in self._original.language_models]
            self._word_ids = np.concatenate([self._word_ids, np.stack(columns, axis=1)])
            if self._original.levels:
                self._sparse = _with_words(self._sparse, self._original.levels, new)

    def _refresh(self) -> None:
        """Make the language models that searches use from now on."""
        dynamic = self._language_model.model()
        words = self._language_model.vocabulary.words
        known = self._vocabularies[1].ids(words)
        column = np.zeros(len(self._word_ids), np.int32)
        column[known[known >= 0]] = np.flatnonzero(known >= 0)
        language_models = (*self._original.language_models, dynamic)
        word_ids = np.column_stack((self._word_ids, column))
        joined = join_language_models(language_models, self._vocabularies[1], word_ids)
        self._current = CurrentModels(language_models, joined)

    @contextmanager
    def tables(
        self, whole: Tables, filtered: FilteredTables, words: np.ndarray, reference: np.ndarray | None
    ) -> Iterator[tuple[FilteredTables, Model]]:
        """Yield the tables of a sentence (int32[n]), and their model; in this context, nothing is learned.

        `whole`: the model's tables with weights; `filtered`: the best of its pairs; for `reference` see adapted_tables.
        """
        with self._lock:
            statistics = ConfirmedStatistics(self.static.arrays, self._counts)
            found = adapted_tables(whole, filtered, statistics, words, reference)
            tables, current = found.tables, self._current
            lms = current.lms._replace(ln_weights=whole.lms.ln_weights)
            classes, is_frequent = self._sparse.target_classes, self._sparse.is_frequent
            sparse = tables.sparse._replace(target_classes=classes, is_frequent=is_frequent)
            idf = _with_rare_words(tables.idf, self._vocabularies)
            own = tables._replace(lms=lms, sparse=sparse, idf=idf)
            model = self.model._replace(language_models=current.language_models, tables=own)
            yield FilteredTables(own, found.origin), model


def _with_words(sparse: Sparse, levels: Levels, words: Sequence[str]) -> Sparse:
    """`sparse` for a target vocabulary to which `words` were added."""
    classes = np.concatenate([sparse.target_classes, levels.classes("target", words)])
    is_frequent = np.concatenate([sparse.is_frequent, np.zeros(len(words), np.bool_)])
    return sparse._replace(target_classes=classes, is_frequent=is_frequent)


def _with_rare_words(idf: WordIdf, vocabularies: tuple[GrowingVocabulary, GrowingVocabulary]) -> WordIdf:
    """`idf`, if there is any, in which all added words get the value of the rarest words."""
    sides = zip(idf, vocabularies)
    return WordIdf(
        *(
            np.append(side, np.full(len(words) - side.size, side.max(initial=0.0))) if side.size else side
            for side, words in sides
        )
    )
