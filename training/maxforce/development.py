"""What learned weights are worth on development data, as they are, scaled, or after tuning what is not sparse."""

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import log
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.decoding import translated
from phrasebeam.training.tuning.run_state import TuningRun
from phrasebeam.training.tuning.sparse import with_sparse_weights
from phrasebeam.training.tuning.tune import RunSettings, Tuner
from phrasebeam.training.tuning.tune_model import TuningData


class DevelopmentScore(NamedTuple):
    """How the development set was translated, and by what."""

    score: float  # as people know it, TER negated so that higher is better
    n_words: int  # of the translations
    dense: np.ndarray  # float64[F], the weights given, or tuned ones; scales of groups are among them


class DevelopmentScorer:
    """The sentences that tell when to stop, and their decoder."""

    def __init__(
        self, decoder: Decoder, data: TuningData, config: MaxforceConfig, directory: Path, signature: str, seed: int
    ):
        """Tuning is kept in `directory` while it lasts; one that was killed goes on if the `signature` is the same."""
        self.decoder, self.threads, self.directory = decoder, config.threads, directory
        self.signature, self.seed = signature, seed
        self.scales, self.groups = config.scales, [name for name in GROUPS if is_learned(name, config)]
        self.tuning = None if config.tune is None else config.tune.scored_as(config)
        self.sentences = data.read(TuneConfig().scored_as(config))

    def score(self, number: int, weights: Weights, sparse: SparseWeights) -> DevelopmentScore:
        """Of the weights after iteration `number`, scaled and tuned as the settings say."""
        if self.scales != [1.0]:
            weights = self._scaled(weights, sparse)
        return self.score_tuned(f"iteration-{number}", weights, sparse)

    def score_tuned(self, name: str, weights: Weights, sparse: SparseWeights) -> DevelopmentScore:
        """Of weights that have their scales; `name` is the tuning's, where there is one."""
        if self.tuning is not None:
            weights = self._tuned(self.tuning, name, weights, sparse)
        score, n_words = self._translate(weights, sparse)
        return DevelopmentScore(score, n_words, weight_vector(self.decoder.weights, self.decoder.features))

    def _translate(self, weights: Weights, sparse: SparseWeights) -> tuple[float, int]:
        """The score, and the number of words."""
        self.decoder.reweigh(weights, sparse)
        source, metric = self.sentences.source, self.sentences.metric
        texts = translated(self.decoder, source, self.threads)
        score = 100 * metric.corpus_score(metric.statistics(np.arange(len(texts)), texts))
        return score, sum(len(text.split()) for text in texts)

    def _scaled(self, weights: Weights, sparse: SparseWeights) -> Weights:
        """With the scales of learned groups times that factor which is best, the first of several."""
        groups = {name: getattr(weights, name) for name in self.groups if getattr(weights, name) is not None}
        if not groups or not sparse.n_used[0]:
            return weights
        tried = [
            weights.model_copy(update={name: factor * scale for name, scale in groups.items()})
            for factor in self.scales
        ]
        scores = [self._translate(one, sparse)[0] for one in tried]
        best = int(np.argmax(scores))
        found = ", ".join(f"{factor:g}: {score:.2f}" for factor, score in zip(self.scales, scores, strict=True))
        log.info(f"scales of sparse features: {found}")
        return tried[best]

    def _tuned(self, tuning: TuneConfig, name: str, weights: Weights, sparse: SparseWeights) -> Weights:
        model = with_sparse_weights(self.decoder.model, sparse)._replace(weights=weights)
        run = TuningRun(self.directory / name, self.signature)
        settings = RunSettings(name, self.seed, tuning)
        Tuner(model, self.sentences, settings, run).finish()
        found = run.weights(run.state.best)
        shutil.rmtree(run.directory)  # it holds n-best lists
        return found
