"""Distributed ranking as an online training: algorithms 1 to 4 of Simianer et al. (2012) on shards of the data."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from phrasebeam.decoder.features.dense import FeatureLayout, weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, new_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.curve import score_panels
from phrasebeam.training.common.development_set import DevelopmentScore, DevelopmentScorer
from phrasebeam.training.common.scales import with_best_scales
from phrasebeam.training.joint_selection.config import SENTENCES_OF_SHARD, RankingConfig
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.mixing import Selection
from phrasebeam.training.online.objective import ExampleObjective
from phrasebeam.training.online.per_feature import PerFeature, per_feature
from phrasebeam.training.online.shard_pass import BatchSettings
from phrasebeam.training.online.shards import Shards, random_shards
from phrasebeam.training.online.training import OnlineTraining, Plan
from phrasebeam.training.online.update_rules import new_rule
from phrasebeam.training.ranking.expected_gain import loss_of
from phrasebeam.training.ranking.list_iteration import ListIteration
from phrasebeam.training.ranking.list_objective import ListExample, ListObjective, ListSettings, MultipartiteRanking


def rates_of(layout: FeatureLayout, config: RankingConfig) -> PerFeature:
    """The learning rates of all features; 0 for fixed features."""
    return per_feature(layout, lambda name: 0.0 if name in config.fixed else config.rates.get(name, config.rate))


def list_objective(
    decoder: Decoder, examples: Sequence[ListExample], rates: PerFeature, config: RankingConfig
) -> ListObjective:
    """The objective of an n-best list: ranking of all pairs of its levels, or its expected gain."""
    settings = ListSettings(config.nbest, config.distinct, config.sentence_bleu, config, config.seed)
    pairs = MultipartiteRanking(rates, config.margin, config.level, config.pairs)
    return ListObjective(decoder, examples, loss_of(config, pairs), settings)


def shards_of(n_examples: int, config: RankingConfig) -> Shards:
    """Divide the examples into shards at random; algorithm 1 has one shard."""
    n_shards = config.shards or max(1, round(n_examples / SENTENCES_OF_SHARD))
    if config.algorithm == 1:
        n_shards = 1
    return random_shards(n_examples, min(n_shards, n_examples), config.seed, config.shuffle)


def start_weights(decoder: Decoder, rates: PerFeature, config: RankingConfig) -> LearnedWeights:
    """The weights of the model; with start: zero, 0 for all learned features."""
    dense, sparse = weight_vector(decoder.dense_weights, decoder.features), decoder.tables.sparse.weights
    if config.start == "zero":
        dense, sparse = np.where(rates.dense > 0, 0.0, dense), new_sparse_weights()
    return LearnedWeights(dense, sparse)


def ranking_training(
    objective: ExampleObjective,
    rates: PerFeature,
    shards: Shards,
    development: DevelopmentScorer,
    config: RankingConfig,
    directory: Path,
) -> OnlineTraining[ListIteration]:
    """The training on `shards` of the examples, with its work in `directory`."""
    procedure = config.procedure
    selection = None
    if procedure.selects:
        always = np.ones(rates.dense.size, bool) if config.keep_dense else rates.dense == 0
        selection = Selection(config.keep, always)
    plan = Plan(
        shards,
        BatchSettings(1, 0, config.checkpoint, "steps" if config.average == "sentences" else procedure.averaging),
        config.iterations,
        config.patience,
        procedure.restarts,
        selection,
        shares_weights=config.task_weights == "shared",
        workers=config.workers,
        panels=score_panels(config.metric, {"score": "development set", "example_score": "training data"}),
        most_features=config.most_features,
    )
    groups = [name for name, rate in zip(GROUPS, rates.groups) if rate > 0]

    def score(name: str, weights: Weights, sparse: SparseWeights) -> tuple[DevelopmentScore, np.ndarray]:
        scaled = with_best_scales(development, weights, sparse, groups, config.scales)
        return development.score_tuned(name, scaled, sparse)

    return OnlineTraining(objective, new_rule(config.rule, rates), plan, score, directory, ListIteration)
