"""Settings of online tuning (Green et al. 2013), with all their defaults."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, Factor
from phrasebeam.decoder.features.registry import FEATURES
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.training.common.settings import LARGEST_BATCH, MOST_NAMES, TrainingDataSettings
from phrasebeam.training.metrics.sentence_bleu import SentenceBleu
from phrasebeam.training.online.update_rules import RuleName
from phrasebeam.training.ranking.expected_gain import ListLossSettings
from phrasebeam.training.tuning.methods.pro import Sampling

MOST_DELAYED = 10_000  # maximum delay in mini-batches; the n-best lists of delayed mini-batches are in memory


class OnlineTuning(TrainingDataSettings, Sampling, ListLossSettings):
    """AdaGrad with L1 regularization on pairs of n-best lists; the letters are those of Green et al. (2013).

    leave_one_out, lm_folds and max_words have an effect only if the data are the model's own training data, whose word
    alignment is stored in the model or given.
    """

    rule: RuleName = Field("adagrad", description="update rule; only adagrad regularizes")
    rate: Factor = Field(0.03, description="eta: learning rate of all features")
    rates: dict[str, Factor] = Field(
        {}, description="learning rates of single features, or of groups of sparse features, instead of `rate`"
    )
    strength: Factor = Field(0.1, description="lambda: strength of the L1 regularization of sparse features")
    strengths: dict[str, Factor] = Field(
        {"rule_reordering": 10.0},
        description=(
            "strengths of single features, or of groups of sparse features; the default for dense features is 0"
        ),
    )
    truncate: Literal["touched", "all"] = Field(
        "touched", description="which weights a step regularizes: those with a gradient in it, or all, as in equation 7"
    )
    batch: int = Field(20, ge=1, le=LARGEST_BATCH, description="number of sentences in a mini-batch")
    delay: int = Field(
        0,
        ge=0,
        le=MOST_DELAYED,
        description="decode each mini-batch without the updates of this number of mini-batches before it, so that "
        "threads need not wait",
    )
    average: bool = Field(True, description="use the mean of the weights after each step, not the last weights")
    sentence_bleu: SentenceBleu = Field("nakov", description="smoothing of sentence BLEU, which compares hypotheses")
    patience: Annotated[int, WITHOUT_EFFECT] = Field(
        4, ge=1, le=MOST_COUNTED, description="stop after this number of epochs without a better score"
    )
    templates: Templates | None = Field(
        Templates(rule_id=True, phrase_alignment=True, rule_reordering=True, source_deletion=True),
        description="templates of sparse features to learn in addition to the model's; none: only the model's",
    )
    checkpoint: int = Field(
        50,
        ge=1,
        le=MOST_COUNTED,
        description="number of mini-batches between two checkpoints; with a delay, results depend on it",
    )
    names: Annotated[int, WITHOUT_EFFECT] = Field(
        1000,
        ge=0,
        le=MOST_NAMES,
        description="number of features per group, those with the largest weights, whose names are stored for explain",
    )

    @model_validator(mode="after")
    def _has_known_features(self) -> "OnlineTuning":
        known = {feature.name for feature in FEATURES}
        for name in (*self.rates, *self.strengths):
            if name not in known:
                raise ValueError(f"{name!r} is not a feature; docs/reference/features.md lists them")
        return self
