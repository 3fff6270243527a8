"""Settings of distributed ranking with joint feature selection, with all their defaults."""

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Factor, PositiveFactor, Seed, Threads
from phrasebeam.decoder.features.registry import FEATURES, LISTS, SCALARS
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.plugins.declarations import plugins
from phrasebeam.training.common.settings import (
    CUBE_200,
    MOST_HYPOTHESES,
    MOST_NAMES,
    MOST_RUNS,
    RULES_AND_EDGES,
    Iterations,
    ScoringSettings,
    TrainingDataSettings,
)
from phrasebeam.training.metrics.sentence_bleu import SentenceBleu
from phrasebeam.training.online.shard_pass import Averaging
from phrasebeam.training.online.update_rules import RuleName
from phrasebeam.training.ranking.expected_gain import ListLossSettings
from phrasebeam.training.tuning.config import INNER_TUNING, TuneConfig, check_inner

Algorithm = Literal[1, 2, 3, 4]
if TYPE_CHECKING:
    PairLoss = str
else:
    PairLoss = Literal["decoded", "sequential", *plugins().pair_losses]
MOST_SHARDS = 10_000  # each shard has its own weights
SENTENCES_OF_SHARD = 1000  # size of the paper's shards (section 5.1)


class Procedure(NamedTuple):
    """How an algorithm of the paper averages, mixes and selects the weights of shards."""

    averaging: Averaging
    restarts: bool  # whether all shards begin each epoch with the mixed weights
    selects: bool  # whether features are selected when weights are mixed


PROCEDURES: dict[Algorithm, Procedure] = {
    1: Procedure("epochs", restarts=False, selects=False),  # SGD: one shard
    2: Procedure("epochs", restarts=False, selects=False),  # MixSGD
    3: Procedure("none", restarts=True, selects=False),  # IterMixSGD
    4: Procedure("none", restarts=True, selects=True),  # IterSelSGD
}


ALWAYS_PRESENT = [feature.name for feature in (*LISTS, *SCALARS)]  # dense features that every model has


class RankingConfig(TrainingDataSettings, ScoringSettings, ListLossSettings):
    """Settings of `train-ranking`."""

    algorithm: Algorithm = Field(
        1,
        description="algorithm of the paper. 1: SGD; 2: shards, mixed at the end; 3: shards, mixed after each "
        "epoch; 4: as 3, with feature selection",
    )
    shards: int = Field(
        0,
        ge=0,
        le=MOST_SHARDS,
        description=f"number of shards of algorithms 2 to 4; 0: one per {SENTENCES_OF_SHARD} sentences",
    )
    keep: int = Field(
        100_000, ge=1, le=MOST_COUNTED, description="number K of features that algorithm 4 keeps after each epoch"
    )
    keep_dense: bool = Field(
        True, description="always keep dense features, in addition to these K; else they compete with the others"
    )
    average: Literal["epochs", "sentences"] = Field(
        "sentences",
        description=(
            "weights of a shard to average: those after each epoch, as in the paper, or those after each sentence"
        ),
    )
    most_features: int | None = Field(
        1_000_000,
        ge=1,
        le=MOST_COUNTED,
        description="number of sparse features that are scored and written, those with the largest weights; none: all",
    )
    task_weights: Literal["shared", "own"] = Field(
        "shared", description="whether shards of different tasks share weights, or only the selection of features"
    )
    iterations: Annotated[Iterations, WITHOUT_EFFECT] = Field(
        4, description="maximum number of epochs over the training data"
    )
    patience: Annotated[int, WITHOUT_EFFECT] = Field(
        10, ge=1, le=MOST_COUNTED, description="stop after this number of epochs without a better score"
    )
    start: Literal["zero", "model"] = Field("model", description="weights to start from")
    rule: RuleName = Field("perceptron", description="update rule")
    rate: PositiveFactor = Field(1e-5, description="learning rate of all features; 0.1 suits `loss: expected`")
    rates: dict[str, Factor] = Field(
        {}, description="learning rates of single features, or of groups of sparse features, instead of `rate`"
    )
    margin: Factor = Field(1.0, description="margin by which the better hypothesis of a pair must lead")
    pairs: PairLoss = Field(
        "decoded",
        description="the scores that judge the pairs of a list: decoded, those of the search; sequential, those by "
        "the weights after the update of the pair before",
    )
    level: float = Field(0.1, gt=0, le=0.5, description="share of a list in the best level and in the worst level")
    nbest: int = Field(100, ge=2, le=MOST_HYPOTHESES, description="size of the n-best list of each sentence")
    distinct: bool = Field(True, description="count only hypotheses with different texts")
    sentence_bleu: SentenceBleu = Field("lin-och", description="smoothing of sentence BLEU, which orders hypotheses")
    shuffle: bool = Field(True, description="shuffle the sentences in each epoch; else keep the order of the data")
    fixed: list[str] = Field(
        ALWAYS_PRESENT,
        description=(
            "features that keep their weights; by default dense ones, since single sentences change them too much"
        ),
    )
    templates: Templates | None = Field(
        RULES_AND_EDGES,
        description="templates of sparse features to learn in addition to the model's; none: only the model's",
    )
    search: SearchSettings = CUBE_200
    development_search: SearchSettings | None = Field(
        None, description="search settings for scores on the development set; none: those of `search`"
    )
    scales: list[PositiveFactor] = Field(
        [1.0, 0.3, 0.15, 0.08, 0.04, 0.02],
        min_length=1,
        max_length=MOST_RUNS,
        description="factors of the scales of the learned groups to try; the one with the best score on the "
        "development set is used before tuning",
    )
    tune: TuneConfig | None = Field(
        INNER_TUNING,
        description="tune dense weights and group scales before weights are scored; none: use them as they are",
    )
    seed: Seed = Field(1, description="random seed of the assignment to shards and of the order of sentences")
    workers: Annotated[Threads, WITHOUT_EFFECT] = Field(
        2, description="number of shards that are trained at the same time"
    )
    checkpoint: Annotated[int, WITHOUT_EFFECT] = Field(
        2000, ge=1, le=MOST_COUNTED, description="number of sentences of a shard between two checkpoints"
    )
    names: Annotated[int, WITHOUT_EFFECT] = Field(
        1000,
        ge=0,
        le=MOST_NAMES,
        description="number of features per group, those with the largest weights, whose names are stored for explain",
    )

    @property
    def procedure(self) -> Procedure:
        """The procedure of `algorithm`."""
        return PROCEDURES[self.algorithm]

    @model_validator(mode="after")
    def _has_known_features(self) -> "RankingConfig":
        known = {feature.name for feature in FEATURES}
        for name in (*self.rates, *self.fixed):
            if name not in known:
                raise ValueError(f"{name!r} is not a feature; docs/reference/features.md lists them")
        return self

    @model_validator(mode="after")
    def _tunes_as_it_is_told(self) -> "RankingConfig":
        check_inner(self.tune)
        return self

    @model_validator(mode="after")
    def _has_shards_to_share(self) -> "RankingConfig":
        if self.task_weights == "own" and not self.procedure.selects:
            raise ValueError(f"task_weights is own, which algorithm {self.algorithm} does not support; give 4")
        if self.algorithm == 1 and self.shards > 1:
            raise ValueError(f"shards is {self.shards}, but algorithm 1 has one shard; give algorithm 2, 3 or 4")
        return self
