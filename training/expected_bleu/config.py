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
# With the weights of a tuned model none of its changes scores better: weights are at a peak.
SHORT_MERT = TuneConfig(method="mert", iterations=3, nbest=100, mert=Mert(restarts=3), search=CUBE_200)


class Rprop(Section):
    """Resilient backpropagation; the letters are those of Wuebker et al. (2015), section 4.2."""

    increase: float = Field(1.2, ge=1, le=10, description="eta+, of steps whose direction stays")
    decrease: float = Field(0.5, gt=0, lt=1, description="eta-, of steps that are taken back")
    initial_step: PositiveFactor = Field(1e-3, description="of each weight")


class Adagrad(Section):
    """AdaGrad with a diagonal matrix (Duchi et al. 2011; Green et al. 2013)."""

    rate: PositiveFactor = Field(0.1, description="eta, the first step of each weight")


class Sgd(Section):
    """Steps along the gradient of all data, as the paper's Equation 3."""

    rate: PositiveFactor = Field(
        300.0, description="eta; what is good depends on the data, and on the scale of the weights"
    )


class Steps(Section):
    """The settings of each optimizer's steps."""

    rprop: Rprop = Rprop()
    adagrad: Adagrad = Adagrad()
    sgd: Sgd = Sgd()


class ExpectedBleuConfig(TrainingDataSettings, ScoringSettings):
    """Everything that `train-expected-bleu` can be told besides its files."""

    optimizer: Optimizer = Field(
        "rprop", description="optimizer of the features; gt: growth transformation of p(f|e) and p(e|f) in their place"
    )
    features: list[FeatureSet] | None = Field(
        None,
        min_length=1,
        description="a: phrase pairs; b: word pairs in them; c: triplets of words in them; d: pairs by orientation; "
        "none: all, as the model and the optimizer allow",
    )
    iterations: Annotated[Iterations, WITHOUT_EFFECT] = Field(40, description="number of steps over all lists")
    tau: Factor = Field(
        1e-6, description="of the squares of all weights, against ln of expected BLEU; with gt of KL divergences"
    )
    scale: PositiveFactor = Field(1.0, description="factor of model scores before they become probabilities")
    steps: Steps = Steps()
    calibrate: bool = Field(True, description="first find what a phrase and a target word are worth in the lists")
    nbest: int = Field(100, ge=1, le=MOST_HYPOTHESES, description="derivations of each training sentence")
    distinct: bool = Field(True, description="with different texts")
    search: SearchSettings = CUBE_200
    leave_one_out: LeaveOneOut | None = Field("penalty", description=LEAVE_ONE_OUT)
    score_every: Annotated[int, WITHOUT_EFFECT] = Field(
        8, ge=1, le=MOST_COUNTED, description="iterations between two whose weights are scored on development data"
    )
    tune: TuneConfig | None = Field(
        SHORT_MERT,
        description="of the weights of models before they are scored (Figure 1, step 6); none: they are fixed",
    )
    development_search: SearchSettings | None = Field(
        None, description="for scores with fixed weights; none: as for the lists"
    )

    @field_validator("features")
    @classmethod
    def _each_once(cls, features: list[FeatureSet] | None) -> list[FeatureSet] | None:
        if features is None:
            return None
        if len(set(features)) != len(features):
            raise ValueError(f"{', '.join(features)}: one is there twice, give each once")
        return sorted(features)

    @model_validator(mode="after")
    def _goes_together(self) -> "ExpectedBleuConfig":
        if self.optimizer == "gt" and self.features not in (None, ["a"]):
            raise ValueError(f"features are {', '.join(self.features or ())}; gt learns of phrase pairs alone, give a")
        return self

    def for_model(self, has_orientations: bool) -> "ExpectedBleuConfig":
        """The settings with the features that are learned of a model, with or without lexicalized reordering."""
        if self.features is not None:
            return self
        chosen = ["a"] if self.optimizer == "gt" else ["a", "b", "c", "d"][: 4 if has_orientations else 3]
        return self.model_copy(update={"features": chosen})
