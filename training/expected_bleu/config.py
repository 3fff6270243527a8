"""Settings of maximum expected BLEU training, with all their defaults."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Factor, PositiveFactor, Section
from phrasebeam.decoder.input.sentence_input import LEAVE_ONE_OUT, LeaveOneOut
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.plugins.declarations import plugins
from phrasebeam.training.common.settings import (
    CUBE_200,
    MOST_HYPOTHESES,
    Iterations,
    ScoringSettings,
    TrainingDataSettings,
)
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.mert import Mert

if TYPE_CHECKING:
    Optimizer = str
else:
    Optimizer = Literal["rprop", "adagrad", "sgd", "gt", *plugins().optimizers]
FeatureSet = Literal["a", "b", "c", "d"]
BY_ORIENTATION: FeatureSet = "d"  # needs a model with lexicalized reordering
# Why tuning is the default: with the weights of a tuned model, no iteration scores better, as they are at a peak.
SHORT_MERT = TuneConfig(method="mert", iterations=3, nbest=100, mert=Mert(restarts=3), search=CUBE_200)


class Rprop(Section):
    """Resilient backpropagation; the letters are those of Wuebker et al. (2015), section 4.2."""

    increase: float = Field(
        1.2, ge=1, le=10, description="eta+: factor of the step size if the gradient keeps its sign"
    )
    decrease: float = Field(
        0.5, gt=0, lt=1, description="eta-: factor of the step size if the gradient changes its sign"
    )
    initial_step: PositiveFactor = Field(1e-3, description="step size of each weight in the first iteration")


class Adagrad(Section):
    """AdaGrad with a diagonal matrix (Duchi et al. 2011; Green et al. 2013)."""

    rate: PositiveFactor = Field(0.1, description="eta: size of the first step of each weight")


class Sgd(Section):
    """Steps along the gradient of all data, as the paper's Equation 3."""

    rate: PositiveFactor = Field(
        300.0, description="eta: learning rate; good values depend on the data and on the scale of the weights"
    )


class Steps(Section):
    """Step sizes of each optimizer."""

    rprop: Rprop = Rprop()
    adagrad: Adagrad = Adagrad()
    sgd: Sgd = Sgd()


class ExpectedBleuConfig(TrainingDataSettings, ScoringSettings):
    """Settings of `train-expected-bleu`."""

    optimizer: Optimizer = Field(
        "rprop",
        description="optimizer of the features; gt: growth transformation, which changes p(f|e) and p(e|f) instead",
    )
    features: list[FeatureSet] | None = Field(
        None,
        min_length=1,
        description="sets of features. a: phrase pairs; b: word pairs within phrase pairs; c: word triplets within "
        "phrase pairs; d: phrase pairs by orientation; none: all that the model and the optimizer "
        "support",
    )
    iterations: Annotated[Iterations, WITHOUT_EFFECT] = Field(
        40, description="number of optimizer steps, each over all lists"
    )
    tau: Factor = Field(
        1e-6,
        description="regularization: factor of the sum of squared weights, relative to ln of expected BLEU; with gt"
        " of KL divergences",
    )
    scale: PositiveFactor = Field(
        1.0, description="factor by which model scores are multiplied before they become probabilities"
    )
    steps: Steps = Steps()
    calibrate: bool = Field(True, description="first fit the phrase penalty and the word penalty to the lists")
    nbest: int = Field(100, ge=1, le=MOST_HYPOTHESES, description="size of the n-best list of each training sentence")
    distinct: bool = Field(True, description="count only hypotheses with different texts")
    search: SearchSettings = CUBE_200
    leave_one_out: LeaveOneOut | None = Field("penalty", description=LEAVE_ONE_OUT)
    score_every: Annotated[int, WITHOUT_EFFECT] = Field(
        8, ge=1, le=MOST_COUNTED, description="number of iterations between two scores on the development data"
    )
    tune: TuneConfig | None = Field(
        SHORT_MERT,
        description="tune the dense weights of a model before it is scored (Figure 1, step 6); none: keep them fixed",
    )
    development_search: SearchSettings | None = Field(
        None, description="search settings for scores with fixed weights; none: those of `search`"
    )

    @field_validator("features")
    @classmethod
    def _each_once(cls, features: list[FeatureSet] | None) -> list[FeatureSet] | None:
        if features is None:
            return None
        if len(set(features)) != len(features):
            raise ValueError(f"{', '.join(features)}: one occurs twice, give each once")
        return sorted(features)

    @model_validator(mode="after")
    def _goes_together(self) -> "ExpectedBleuConfig":
        if self.optimizer == "gt" and self.features not in (None, ["a"]):
            raise ValueError(f"features are {', '.join(self.features or ())}; gt learns only from phrase pairs, give a")
        return self

    def for_model(self, has_orientations: bool) -> "ExpectedBleuConfig":
        """The settings with the default feature sets for a model with or without lexicalized reordering."""
        if self.features is not None:
            return self
        chosen = ["a"] if self.optimizer == "gt" else ["a", "b", "c", "d"][: 4 if has_orientations else 3]
        return self.model_copy(update={"features": chosen})
