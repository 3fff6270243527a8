"""Settings of tuning, with all their defaults."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, WITHOUT_EFFECT, PositiveFactor, Section, Seed, section_of
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.pair import n_length_groups
from phrasebeam.decoder.features.registry import ADDED_BY_TUNE
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.training.common.settings import CUBE_200, MOST_HYPOTHESES, MOST_RUNS, Iterations, ScoringSettings
from phrasebeam.training.tuning.methods.mira_corpus import MiraCorpus
from phrasebeam.training.tuning.methods.registry import Method, MethodSettings
from phrasebeam.training.tuning.online_config import OnlineTuning

SparseTuning = Literal["scales", "weights"]
SourceFormat = Literal["text", "plf"]


TuneMethod = Literal[Method, "online"]


class _LengthGroups(Section):
    length_groups: int | None = Field(
        None, ge=1, le=20, description="add the feature, with groups up to this phrase length"
    )


_Features: Any = section_of("_Features", {feature.name: (bool, False) for feature in ADDED_BY_TUNE}, _LengthGroups)


class AddedFeatures(_Features):
    """Features to add to a model that lacks them, with weight 0."""

    def added_to(self, weights: Weights) -> Weights:
        """`weights`, with weight 0 for added features that have no weight yet."""
        added: dict[str, float | list[float]] = {f.name: 0.0 for f in ADDED_BY_TUNE if getattr(self, f.name)}
        if self.length_groups is not None:
            added["length_groups"] = [0.0] * n_length_groups(self.length_groups, len(weights.translation))
        return weights.model_copy(update={name: v for name, v in added.items() if getattr(weights, name) is None})


class TuneConfig(MethodSettings, ScoringSettings):
    """Settings of `tune`."""

    method: TuneMethod = Field("mira-corpus", description="tuning method")
    online: OnlineTuning = OnlineTuning()
    iterations: Annotated[Iterations, WITHOUT_EFFECT] = Field(
        10, description="maximum number of iterations of decoding and optimizing"
    )
    nbest: int = Field(
        200, ge=1, le=MOST_HYPOTHESES, description="size of the n-best list of each sentence in each iteration"
    )
    distinct: bool = Field(True, description="count only hypotheses with different texts")
    seeds: Annotated[list[Seed], WITHOUT_EFFECT] = Field(
        [1],
        min_length=1,
        max_length=MOST_RUNS,
        description="random seeds, with one run for each; the run with the best score on the tuning set is kept",
    )
    c: Annotated[list[PositiveFactor], WITHOUT_EFFECT] = Field(  # without effect on signatures: it is in names of runs
        [],
        max_length=MOST_RUNS,
        description="C of the MIRA methods, which limits the step size, with one run for each value; none: the "
        "default of the method",
    )
    fixed: list[str] = Field(["unknown_word_penalty"], description="features that keep their weights")
    sparse: SparseTuning = Field(
        "scales",
        description="which weights of the model's sparse features are tuned: one scale for each group, or a weight for "
        "each feature",
    )
    most_sparse: int | None = Field(
        None,
        ge=1,
        le=MOST_COUNTED,
        description="number of sparse features to tune, the most frequent ones in the lists; none: all",
    )
    add: AddedFeatures = AddedFeatures()
    min_new: float = Field(
        0.001, ge=0, lt=1, description="stop when a smaller share of an iteration's hypotheses is new"
    )
    source_format: SourceFormat = Field("text", description="format of the source sentences: text, or plf for lattices")
    search: SearchSettings | None = Field(
        None, description="search settings for decoding, which the tuned model keeps; none: those of the model"
    )

    @property
    def list_method(self) -> Method:
        """The method, if it tunes n-best lists. Raises ConfigError for method online."""
        if self.method == "online":
            raise ConfigError(
                "method is online, which does not tune n-best lists; give a method that does, such as mert"
            )
        return self.method

    @property
    def learns_sparse(self) -> bool:
        """Whether each sparse feature gets a weight."""
        return self.sparse == "weights" or (self.method == "online" and self.online.templates is not None)

    @model_validator(mode="after")
    def _tunes_online_what_it_can(self) -> "TuneConfig":
        if self.method == "online" and self.c:
            raise ValueError(f"c is {self.c}, which method online does not use; give it for a MIRA method")
        if self.method == "online" and self.source_format != "text":
            raise ValueError("source_format is plf, but method online reads only text; give another method")
        return self

    @model_validator(mode="after")
    def _limits_what_it_tunes(self) -> "TuneConfig":
        if self.most_sparse is not None and (self.method == "online" or self.sparse == "scales"):
            raise ValueError(
                "most_sparse has no effect unless n-best lists are tuned and sparse is weights; leave it out"
            )
        return self

    def with_c(self, c: float) -> "TuneConfig":
        """The same settings with another C for all MIRA methods."""
        names = ("mira_batch", "mira_chiang", "mira_corpus")
        return self.model_copy(update={name: getattr(self, name).model_copy(update={"c": c}) for name in names})


# Tuning inside other trainings. A larger step, or MERT, fits the development set better, but other text less well.
INNER_TUNING = TuneConfig(method="mira-corpus", iterations=3, nbest=100, mira_corpus=MiraCorpus(c=0.1), search=CUBE_200)

SHARED = dict.fromkeys(
    ("metric", "lowercase", "reference_length", "threads", "memory", "seeds"), "give it for training as a whole"
)
NOT_TUNED_BY = SHARED | {
    "c": "give that of the method, one",
    "sparse": "scales of groups are tuned",
    "add": "give features to the model before, with tune",
    "online": "another method tunes there",
    "source_format": "trainings read text",
}


def check_inner(tune: TuneConfig | None) -> None:
    """Raise ValueError if settings of tuning inside another training would have no effect there."""
    if tune is not None and tune.method == "online":
        raise ValueError(
            "tune.method is online, which does not tune n-best lists; give a method that does, such as mert"
        )
    for name, reason in NOT_TUNED_BY.items():
        if tune is not None and getattr(tune, name) != getattr(TuneConfig(), name):
            raise ValueError(f"tune.{name} has no effect in training; {reason}")
