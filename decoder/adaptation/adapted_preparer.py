"""Prepares sentences for the search with what a project has confirmed."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.adaptation.project_memory import ProjectMemory
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.search.prepared_sentence import PreparedSentence, PreparerSettings, prepare_sentence
from phrasebeam.decoder.search.sentence_preparer import SentencePreparer
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.search.workspace import Workspace


class AdaptedPreparer(SentencePreparer):
    """Gives each sentence tables of its own: the model's pairs and those of confirmed segments."""

    def __init__(self, memory: ProjectMemory, folds: Sequence[Fold], settings: PreparerSettings):
        """`folds`: none, as no sentence here is of the training data."""
        super().__init__(memory.model, folds, settings)
        self.memory = memory

    def prepare(
        self, given: Input, snapshot: WeightSnapshot, workspace: Workspace, reference: np.ndarray | None = None
    ) -> PreparedSentence:
        """As SentencePreparer, with all that is confirmed when the sentence begins."""
        if given.lattice is not None or given.held_out is not None:
            raise ConfigError("adaptation is for text, not for lattices or leave-one-out; leave out one of them")
        ids, whole = self.model.source.ids(list(given.words)), snapshot.tables
        self._bounds_checks.is_oov(ids, self.settings.longest)
        filtered = self._table_filter(given, snapshot, workspace).filter(ids, reference, None)
        required = None if reference is None else reference.tolist()
        with self.memory.tables(whole, filtered, ids.tolist(), required) as (tables, model):
            checks, settings = BoundsChecks(tables.tables), self.settings
            source = prepare_sentence(given, model, tables, settings.longest, settings.input, checks)
        return source._replace(own_model=model)
