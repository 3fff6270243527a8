"""Prepares sentences for the search, with the tables of the model, or with those that a training sentence may use."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.base.errors import ConfigError, ModelError, excerpt
from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.features.registry import RELATED_WORDS, SPELLED_WORDS
from phrasebeam.decoder.held_out.filtered_table import FilteredTables, TableFilter
from phrasebeam.decoder.held_out.leave_one_out import longest_held_out
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.search.prepared_lattice import prepare_lattice
from phrasebeam.decoder.search.prepared_sentence import (
    PreparedSentence,
    PreparerSettings,
    UnknownWords,
    prepare_sentence,
)
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace
from phrasebeam.decoder.unknown_words.related_pairs import HeldOut, RelatedPairs
from phrasebeam.decoder.unknown_words.spelled_pairs import SpelledPairs, TranslateLetters


class SentencePreparer:
    """Prepares sentences for the search; any number of threads may share one."""

    def __init__(
        self,
        model: Model,
        folds: Sequence[Fold],
        settings: PreparerSettings,
        translate_letters: TranslateLetters | None = None,
    ):
        """`folds` are needed only for sentences that name one, see HeldOutPair."""
        self.model, self.settings, self._folds = model, settings, folds
        self.bounds_checks = BoundsChecks(model.tables)
        self._related = RelatedPairs(model, self.bounds_checks)
        self._spelled = SpelledPairs(translate_letters) if translate_letters else None

    def prepare(
        self, given: Input, snapshot: WeightSnapshot, workspace: Workspace, reference: np.ndarray | None = None
    ) -> PreparedSentence:
        """The prepared sentence; for `reference` (int32[m]) see TableFilter.filter.

        The workspace must have adopted the snapshot. It holds the sentence's own tables, if any, until the next
        sentence.
        """
        tables, model, longest = FilteredTables(snapshot.tables, None), self.model_for(given), self.settings.longest
        bounds_checks = self.bounds_checks
        unknown_words = self._unknown_words(given, snapshot.layout)
        if given.lattice is not None:
            if reference is not None:
                raise ConfigError("forced decoding supports only text, not lattices or confusion networks; give text")
            settings = self.settings
            return prepare_lattice(given.lattice, model, snapshot, workspace, bounds_checks, settings, unknown_words)
        if given.held_out is not None or reference is not None:
            ids = model.source.ids(list(given.words))
            most = longest if given.held_out is None else max(longest, longest_held_out(model.description))
            bounds_checks.check(ids, most)
            table_filter = self._table_filter(given, snapshot, workspace)
            try:
                tables = table_filter.filter(ids, reference, given.held_out)
            except ModelError as error:
                raise ModelError(f"{excerpt(' '.join(given.words))}: {error}") from None
            if tables.origin is not None:
                bounds_checks = BoundsChecks(tables.tables)
        return prepare_sentence(given, model, tables, longest, self.settings.input, bounds_checks, unknown_words)

    def _unknown_words(self, given: Input, layout: FeatureLayout) -> UnknownWords | None:
        related = self._related if layout.has(RELATED_WORDS.name) else None
        spelled = self._spelled if layout.has(SPELLED_WORDS.name) else None
        if related is None and spelled is None:
            return None
        held_out = None
        if given.held_out is not None and given.held_out.reference:
            least_count = 2 if given.held_out.mode == "singletons" else 0
            held_out = HeldOut(frozenset(given.words), least_count)
        return UnknownWords(related, spelled, held_out)

    def _table_filter(self, given: Input, snapshot: WeightSnapshot, workspace: Workspace) -> TableFilter:
        """The workspace's table filter for the fold of language models that the sentence names."""
        fold, tables = given.held_out.fold if given.held_out else None, snapshot.tables
        if fold not in workspace.table_filters:
            if fold is not None:
                lms = self._folds[fold].lms._replace(ln_weights=tables.lms.ln_weights)
                tables = tables._replace(lms=lms, operations=self._folds[fold].operations)
            limits = self.settings.longest, self.settings.table_limit
            workspace.table_filters[fold] = TableFilter(self.model_for(given), tables, snapshot.ranking, *limits)
        return workspace.table_filters[fold]

    def model_for(self, given: Input) -> Model:
        """The model that was trained without the sentence if `given` names its fold, otherwise the model itself."""
        fold = given.held_out.fold if given.held_out else None
        if fold is None:
            return self.model
        if not 0 <= fold < len(self._folds):
            raise ConfigError(f"the sentence is in fold {fold}, but there are {len(self._folds)} language model folds")
        return self._folds[fold].model
