"""How a decoder reads a sentence: by the model's tables, or by those that a training sentence may know of."""

import threading
from collections.abc import Sequence

import numpy as np

from decoder.config import Reading
from decoder.input import Input
from decoder.lm_folds import Fold
from decoder.model import Model
from decoder.sentence_tables import SentenceTables, TableParts
from decoder.source import Source, read_source
from decoder.tables import Tables
from lm.errors import ConfigError, ModelError


class Reader:
    """Makes Sources; any number of threads may share one, each with what it has read last."""

    def __init__(self, model: Model, tables: Tables, folds: Sequence[Fold], longest: int, reading: Reading):
        """`tables` are the model's, with weights; source phrases of up to `longest` words are looked up."""
        self.model, self.tables, self.longest, self.reading = model, tables, longest, reading
        ln_weights = tables.lms.ln_weights
        self._folds = [fold._replace(lms=fold.lms._replace(ln_weights=ln_weights)) for fold in folds]
        self._local = threading.local()

    def read(self, given: Input, reference: np.ndarray | None = None) -> Source:
        """The sentence, made ready; of `reference` (int32[m]) see TableParts.part."""
        tables, model, left_out = SentenceTables(self.tables, None), self.model_for(given), given.left_out
        if left_out is not None or reference is not None:
            if not hasattr(self._local, "parts"):
                self._local.parts = TableParts(self.model, self.tables, self.longest)
            try:
                tables = self._local.parts.part(model.source.ids(list(given.words)), reference, left_out)
            except ModelError as error:
                raise ModelError(f"{' '.join(given.words)!r}: {error}") from None
        if left_out is not None and left_out.fold is not None:
            tables = tables._replace(tables=tables.tables._replace(lms=self._folds[left_out.fold].lms))
        return read_source(given, model, tables, self.longest, self.reading)

    def model_for(self, given: Input) -> Model:
        """The model that has not seen the sentence, as far as `given` says that there is one."""
        fold = given.left_out.fold if given.left_out else None
        if fold is None:
            return self.model
        if not 0 <= fold < len(self._folds):
            raise ConfigError(f"the sentence is of fold {fold}, but there are {len(self._folds)} language model folds")
        return self._folds[fold].model
