"""What learned weights are worth on development data, as they are or after tuning what is not sparse."""

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from decoder.config import Weights
from decoder.features.dense import weight_vector
from decoder.features.sparse_weights import SparseWeights
from decoder.translator import Decoder
from training.maxforce.config import MaxforceConfig
from training.tuning.config import TuneConfig
from training.tuning.decoding import translated
from training.tuning.run_state import Run
from training.tuning.sparse import with_sparse_weights
from training.tuning.tune import RunSettings, Tuner
from training.tuning.tune_model import TuningData


class Scored(NamedTuple):
    """How the development set was translated, and by what."""

    score: float  # as people know it, TER negated so that higher is better
    n_words: int  # of the translations
    dense: np.ndarray  # float64[F], the weights given, or tuned ones; scales of groups are among them


class Development:
    """The sentences that tell when to stop, and their decoder."""

    def __init__(self, decoder: Decoder, data: TuningData, config: MaxforceConfig, directory: Path, signature: str):
        """Tuning is kept in `directory` while it lasts; one that was killed goes on if the `signature` is the same."""
        self.decoder, self.threads, self.directory, self.signature = decoder, config.threads, directory, signature
        self.tuning = None if config.tune is None else config.tune.scored_as(config)
        self.sentences = data.read(TuneConfig().scored_as(config))

    def score(self, number: int, weights: Weights, sparse: SparseWeights) -> Scored:
        """Of the weights after iteration `number`."""
        if self.tuning is not None:
            weights = self._tuned(self.tuning, number, weights, sparse)
        self.decoder.reweigh(weights, sparse)
        source, metric = self.sentences.source, self.sentences.metric
        texts = translated(self.decoder, source, self.threads)
        score = 100 * metric.corpus_score(metric.statistics(np.arange(len(texts)), texts))
        n_words = sum(len(text.split()) for text in texts)
        return Scored(score, n_words, weight_vector(self.decoder.weights, self.decoder.features))

    def _tuned(self, tuning: TuneConfig, number: int, weights: Weights, sparse: SparseWeights) -> Weights:
        model = with_sparse_weights(self.decoder.model, sparse)._replace(weights=weights)
        settings = RunSettings(f"iteration {number}", tuning.seeds[0], tuning)
        run = Run(self.directory / f"{number:03d}", self.signature)
        Tuner(model, self.sentences, settings, run).finish()
        found = run.weights(run.state.best)
        shutil.rmtree(run.directory)  # it holds n-best lists
        return found
