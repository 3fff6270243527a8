"""Online tuning on n-best lists of many sentences, with any number of sparse features (Green et al. 2013)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import FeatureLayout, weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.curve import score_panels
from phrasebeam.training.common.development_set import DevelopmentScore, DevelopmentScorer, DevelopmentSet
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.per_feature import PerFeature, check_learns, per_feature
from phrasebeam.training.online.shard_pass import BatchSettings
from phrasebeam.training.online.shards import whole
from phrasebeam.training.online.training import OnlineTraining, Plan
from phrasebeam.training.online.update_rules import new_rule
from phrasebeam.training.ranking.expected_gain import loss_of
from phrasebeam.training.ranking.list_iteration import ListIteration
from phrasebeam.training.ranking.list_objective import ListExample, ListObjective, ListSettings, SampledLogistic
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_config import OnlineTuning

LINES = {"score": "development set", "example_score": "sentences learned from"}


class TuningData(NamedTuple):
    """The sentences to tune on."""

    examples: Sequence[ListExample]
    folds: Sequence[Fold]  # language models without folds; empty unless the sentences are the model's training data


def online_training(
    model: Model, data: TuningData, held_out: DevelopmentSet, config: TuneConfig, seed: int, directory: Path
) -> tuple[OnlineTraining[ListIteration], LearnedWeights]:
    """The training with one `seed`, with its work in `directory`, and the weights with which it begins.

    `model` has the features that are learned; the epoch is chosen by the score of `held_out`.
    """
    settings, decoder = config.online, Decoder(model, config.search, folds=data.folds)
    decoder.searcher.rank_by(model.weights)
    lists = ListSettings(config.nbest, config.distinct, settings.sentence_bleu, config, seed)
    pairs = SampledLogistic(settings.samples, settings.kept, settings.threshold)
    objective = ListObjective(decoder, data.examples, loss_of(settings, pairs), lists)
    rates, strengths = _rates(decoder.features, config), _strengths(decoder.features, settings)
    check_learns(rates, model.tables.sparse.active)
    rule = new_rule(settings.rule, rates, strengths, settings.truncate == "all")
    plan = Plan(
        whole(len(data.examples), seed),
        BatchSettings(settings.batch, settings.delay, settings.checkpoint, "steps" if settings.average else "none"),
        config.iterations,
        settings.patience,
        threads=config.threads,
        panels=score_panels(config.metric, LINES),
    )
    scorer = DevelopmentScorer(held_out, Decoder(model, config.search))

    def score(name: str, weights: Weights, sparse: SparseWeights) -> tuple[DevelopmentScore, np.ndarray]:
        return scorer.score_tuned(name, weights, sparse)

    start = LearnedWeights(weight_vector(decoder.dense_weights, decoder.features), decoder.tables.sparse.weights)
    return OnlineTraining(objective, rule, plan, score, directory, ListIteration), start


def examples_of(development: DevelopmentSet, references: Sequence[Sequence[str]]) -> list[ListExample]:
    """The sentences of a development set with all their references; `references`: one list for each set."""
    rows = zip(development.source, zip(*references), strict=True)
    return [ListExample(number, given, texts) for number, (given, texts) in enumerate(rows) if given.words]


def _rates(layout: FeatureLayout, config: TuneConfig) -> PerFeature:
    """The learning rates of all features; 0 for fixed features, and for sparse features that keep their weights."""

    def rate(name: str) -> float:
        is_fixed = name in config.fixed or (name in GROUPS and not config.learns_sparse)
        return 0.0 if is_fixed else config.online.rates.get(name, config.online.rate)

    return per_feature(layout, rate)


def _strengths(layout: FeatureLayout, settings: OnlineTuning) -> PerFeature:
    """The strengths of L1 regularization of all features; by default 0 for dense features."""
    return per_feature(layout, lambda name: settings.strengths.get(name, settings.strength if name in GROUPS else 0.0))
