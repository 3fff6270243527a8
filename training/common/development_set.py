"""Development data: trainers translate them and score the translations, to choose weights and to stop.

All trainers keep scores from 0 to 100, and higher scores are better: error rates are negative. Methods of tuning
optimize the metric itself (training/metrics/metric.py), without the factor 100.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.lattice_formats import read_all_plf
from phrasebeam.decoder.input.markup import read_all_markup
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import with_sparse_weights
from phrasebeam.training.common.settings import ScoringSettings
from phrasebeam.training.metrics.metric import Metric, make_metric


class TunedWeights(NamedTuple):
    """Dense weights, and their score on the development data."""

    weights: Weights
    score: float
    texts: Sequence[str] = ()  # the translations with that score, if they are known


Tune = Callable[[str, Model], TunedWeights]  # tunes the dense weights of a model; the string names this tuning run


class DevelopmentScore(NamedTuple):
    """Score of development data, and their translations."""

    score: float  # 0 to 100, error rates negative
    texts: Sequence[str]  # the translations
    chrfpp: float | None = None  # chrF++ of the translations, whatever the metric of `score`

    @property
    def n_words(self) -> int:
        return sum(len(text.split()) for text in self.texts)


@dataclass(frozen=True)
class DevelopmentSet:
    """Source sentences, a metric and chrF++ with the references of the sentences, and the number of threads."""

    source: Sequence[Input]
    metric: Metric
    chrfpp: Metric
    threads: int

    def score(self, decoder: Decoder) -> DevelopmentScore:
        texts = []
        with (
            stage("decode", len(self.source), "sentences") as advance,
            closing(decoder.translate_all(self.source, self.threads)) as translations,
        ):
            for translation in translations:
                texts.append(translation.text)
                advance(1)
        return DevelopmentScore(_points_of(self.metric, texts), texts, self.chrfpp_of(texts))

    def chrfpp_of(self, texts: Sequence[str]) -> float:
        """ChrF++ of translations, 0 to 100."""
        return _points_of(self.chrfpp, texts)

    def reported(self, score: float) -> float:
        """A score (0 to 100, error rates negative) as it is usually reported: error rates positive."""
        return score if self.metric.scale > 0 else -score


def _points_of(metric: Metric, texts: Sequence[str]) -> float:
    return points(metric.corpus_score(metric.statistics(np.arange(len(texts)), texts)))


def points(score: float) -> float:
    """Convert a score of the metric itself, which is at most 1, to the scale of 0 to 100."""
    return 100 * score


def read_development(
    data: BitextFiles, settings: ScoringSettings, has_tags: bool = False, is_plf: bool = False
) -> DevelopmentSet:
    """Read the sentences, and make the metric. Raises FormatError if the files differ in their number of lines.

    `has_tags`: whether the model's source tokens have tags, see words_and_tags; `is_plf`: the source sentences are
    lattices.
    """
    lines = {path: list(read_lines(path)) for path in (data.source, *data.references)}
    for path, sentences in lines.items():
        if not sentences or len(sentences) != len(lines[data.source]):
            expected = f"{data.source} has {len(lines[data.source])}; expected the same number of each, at least one"
            raise FormatError(path, f"{len(sentences)} lines, {expected}")
    references = [lines[path] for path in data.references]
    metric = make_metric(settings.metric, references, settings.lowercase, settings.reference_length)
    if is_plf:
        source = list(read_all_plf(lines[data.source], data.source))
    else:
        source = list(read_all_markup(lines[data.source], "pass-through", data.source, has_tags))
    return DevelopmentSet(source, metric, make_metric("chrf++", references, settings.lowercase), settings.threads)


class DevelopmentScorer:
    """Scores weights during training, with one decoder; `tune`, if given, first tunes the dense weights."""

    def __init__(self, development: DevelopmentSet, decoder: Decoder, tune: Tune | None = None):
        self.development, self.decoder, self.tune = development, decoder, tune

    def score(self, weights: Weights, sparse: SparseWeights) -> DevelopmentScore:
        """The score of weights without tuning."""
        self.decoder.reweigh(weights, sparse)
        return self.development.score(self.decoder)

    def score_tuned(self, name: str, weights: Weights, sparse: SparseWeights) -> tuple[DevelopmentScore, np.ndarray]:
        """The score with tuned dense weights, and these weights (float64[F]); `name` names the tuning run."""
        if self.tune is not None:
            model = with_sparse_weights(self.decoder.model, sparse)._replace(weights=weights)
            weights = self.tune(name, model).weights
        score = self.score(weights, sparse)
        return score, weight_vector(self.decoder.dense_weights, self.decoder.features)
