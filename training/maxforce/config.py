"""Settings of the violation-fixing perceptron, with all their defaults."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Factor, PositiveFactor, Seed, section_of
from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.features.registry import FEATURES
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.search.search_settings import MOST_PAIRS, SearchSettings
from phrasebeam.decoder.sparse.templates import GROUPS, Templates
from phrasebeam.training.common.settings import (
    CUBE_200,
    LARGEST_BATCH,
    MOST_NAMES,
    MOST_RUNS,
    RULES_AND_EDGES,
    Iterations,
    ScoringSettings,
    TrainingDataSettings,
)
from phrasebeam.training.maxforce.updates import Strategy
from phrasebeam.training.online.update_rules import RuleName
from phrasebeam.training.tuning.config import INNER_TUNING, TuneConfig, check_inner

RATE_NAMES = {feature.name: feature.rate_name or feature.name for feature in FEATURES}  # by feature
RATES = {RATE_NAMES[feature.name]: (Factor, feature.rate) for feature in FEATURES}
SPARSE_RATES = {RATE_NAMES[group] for group in GROUPS}
_FeatureRates: Any = section_of("_FeatureRates", RATES)


class LearningRates(_FeatureRates):
    """Learning rates of dense features, and of the features of each sparse group.

    Sparse weights are learned with large steps, compared to which dense weights hardly matter; the scales of the groups
    are chosen afterwards. By default dense weights are not learned: a reference nearly always has lower dense scores
    than the translation that the search finds, so that updates would move dense weights in one direction, far from
    their tuned values, and translations would become too short.
    """

    def of_group(self, group: str) -> float:
        """The learning rate of a group of sparse features, by its name in GROUPS."""
        return float(getattr(self, RATE_NAMES[group]))


class MaxforceConfig(TrainingDataSettings, ScoringSettings):
    """Settings of `train-maxforce`."""

    update: Strategy = Field(
        "standard", description="update strategy: the step of the search at which the two derivations are compared"
    )
    future_cost: bool = Field(
        True, description="compare derivations with their future cost; has no effect if search.future_cost is false"
    )
    margin: Factor = Field(0.0, description="margin in model score by which the better derivation must lead")
    iterations: Annotated[Iterations, WITHOUT_EFFECT] = Field(
        8, description="maximum number of iterations over the training data"
    )
    patience: Annotated[int, WITHOUT_EFFECT] = Field(
        2, ge=1, le=MOST_COUNTED, description="stop after this number of iterations without a better score"
    )
    batch: int = Field(
        24,
        ge=1,
        le=LARGEST_BATCH,
        description="number of sentences in a mini-batch, whose updates are averaged (Zhao & Huang 2013)",
    )
    rule: RuleName = Field(
        "perceptron",
        description="how a step moves the weights; adagrad and adam, which do not average over a mini-batch, have "
        "`rates` divided by `batch`",
    )
    rates: LearningRates = LearningRates()
    fixed: list[str] = Field(["unknown_word_penalty"], description="features that keep their weights")
    nuisance: list[str] = Field(
        [],
        max_length=len(RATES),
        description="dense features that are learned, but get the model's weights back when models are scored",
    )
    templates: Templates | None = Field(
        RULES_AND_EDGES,
        description="templates of sparse features to learn in addition to the model's; none: only the model's",
    )
    search: SearchSettings = SearchSettings(stack=30, beam_threshold=0.0)
    development_search: SearchSettings | None = Field(
        CUBE_200, description="search settings for scores on the development set; none: those of `search`"
    )
    scales: list[PositiveFactor] = Field(
        [0.3, 0.15, 0.08, 0.04, 0.02],  # with steps of 1, learned weights are far too large beside dense weights
        min_length=1,
        max_length=MOST_RUNS,
        description="factors of the scales of the learned groups to try; the one with the best score on the "
        "development set is used before tuning",
    )
    keep_length: bool = Field(
        False,
        description="for each factor in `scales`, adjust the word penalty so that translations of the development "
        "set keep their length",
    )
    tune: TuneConfig | None = Field(
        INNER_TUNING,
        description="tune dense weights and group scales before weights are scored; none: use them as they are",
    )
    forcing: ForcedDecodingSettings = ForcedDecodingSettings(max_states=1 << 16)
    gold_table_limit: int | None = Field(
        None,
        ge=0,
        le=MOST_PAIRS,
        description=(
            "maximum number of target phrases per source phrase in y-good derivations; none: as in the search; 0: all"
        ),
    )
    checkpoint: Annotated[int, WITHOUT_EFFECT] = Field(
        200, ge=1, le=MOST_COUNTED, description="number of mini-batches between two checkpoints"
    )
    seeds: Annotated[list[Seed], WITHOUT_EFFECT] = Field(
        [1],
        min_length=1,
        max_length=MOST_RUNS,
        description="random seeds of the order of sentences and of tuning; one training run for each, whose weights"
        " are averaged",
    )
    names: Annotated[int, WITHOUT_EFFECT] = Field(
        1000,
        ge=0,
        le=MOST_NAMES,
        description="number of features per group, those with the largest weights, whose names are stored for explain",
    )

    @model_validator(mode="after")
    def _searches_stacks(self) -> "MaxforceConfig":
        if self.search.algorithm != "stack":
            raise ValueError("search.algorithm is cube; training needs the beams of stack decoding, give stack")
        return self

    @model_validator(mode="after")
    def _has_each_seed_once(self) -> "MaxforceConfig":
        if len({*self.seeds}) < len(self.seeds):
            raise ValueError(f"seeds are {self.seeds}; give each once")
        return self

    @model_validator(mode="after")
    def _learns_nuisances(self) -> "MaxforceConfig":
        for name in self.nuisance:
            if name not in LearningRates.model_fields or name in SPARSE_RATES:
                raise ValueError(f"nuisance has {excerpt(name)}; give names of dense features, such as word_penalty")
            if name in self.fixed or not getattr(self.rates, name):
                raise ValueError(
                    f"nuisance has {name}, which is not learned; give it a rate, and leave it out of fixed"
                )
        return self

    @model_validator(mode="after")
    def _tunes_as_it_is_told(self) -> "MaxforceConfig":
        check_inner(self.tune)
        return self


def is_learned(group: str, config: MaxforceConfig) -> bool:
    """Whether a group of sparse features is learned: its rate is above 0, and it is not fixed."""
    return not {group, RATE_NAMES[group]} & {*config.fixed} and config.rates.of_group(group) > 0
