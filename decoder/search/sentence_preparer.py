"""How a decoder reads a sentence: by the model's tables, or by those that a training sentence may know of."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.features.dense import DenseWeights
from phrasebeam.decoder.held_out.filtered_table import FilteredTables, TableFilter
from phrasebeam.decoder.input.input_settings import Reading
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence, prepare_sentence


class PreparerSettings(NamedTuple):
    """What a Reader needs to know of the search."""

    weights: DenseWeights
    longest: int  # source phrase that is looked up, in words
    table_limit: int
    reading: Reading


class SentencePreparer:
    """Makes Sources; any number of threads may share one, each with what it has read last."""

    def __init__(self, model: Model, tables: Tables, folds: Sequence[Fold], settings: PreparerSettings):
        """`tables` are the model's, with weights."""
        self.model, self._folds = model, folds
        self._local, self._changes = threading.local(), 0
        self.reweigh(tables, settings)

    def reweigh(self, tables: Tables, settings: PreparerSettings) -> None:
        """Read by `tables` with other weights from now on; not while a thread reads."""
        self.tables, self.settings, self._phrases = tables, settings, BoundsChecks(tables)
        ln_weights = tables.lms.ln_weights
        self._folds = [fold._replace(lms=fold.lms._replace(ln_weights=ln_weights)) for fold in self._folds]
        self._changes += 1

    def read(self, given: Input, reference: np.ndarray | None = None) -> PreparedSentence:
        """The sentence, made ready; of `reference` (int32[m]) see TableFilter.filter."""
        tables, model = FilteredTables(self.tables, None), self.model_for(given)
        if given.held_out is not None or reference is not None:
            self._phrases.is_oov(model.source.ids(list(given.words)), self.settings.longest)
            parts = self._parts(model, given.held_out.fold if given.held_out else None)
            try:
                tables = parts.filter(model.source.ids(list(given.words)), reference, given.held_out)
            except ModelError as error:
                raise ModelError(f"{' '.join(given.words)!r}: {error}") from None
        phrases = self._phrases if tables.origin is None else BoundsChecks(tables.tables)
        return prepare_sentence(given, model, tables, self.settings.longest, self.settings.reading, phrases)

    def _parts(self, model: Model, fold: int | None) -> TableFilter:
        """Those of this thread."""
        by_fold: dict[int | None, TableFilter] = self._local.__dict__.setdefault("by_fold", {})
        changes: dict[int | None, int] = self._local.__dict__.setdefault("changes", {})
        if changes.get(fold) != self._changes:
            tables, settings = self.tables, self.settings
            if fold is not None:
                tables = tables._replace(lms=self._folds[fold].lms)
            if fold in by_fold:
                by_fold[fold].reweigh(tables, settings.weights)
            else:
                by_fold[fold] = TableFilter(model, tables, settings.weights, settings.longest, settings.table_limit)
            changes[fold] = self._changes
        return by_fold[fold]

    def model_for(self, given: Input) -> Model:
        """The model that has not seen the sentence, as far as `given` says that there is one."""
        fold = given.held_out.fold if given.held_out else None
        if fold is None:
            return self.model
        if not 0 <= fold < len(self._folds):
            raise ConfigError(f"the sentence is of fold {fold}, but there are {len(self._folds)} language model folds")
        return self._folds[fold].model
