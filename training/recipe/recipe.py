"""A recipe: the stages from two text files to a model, each with the settings of its trainer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from phrasebeam.base.config import Factor, Section, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.output.mbr import MOST_COMPARED
from phrasebeam.decoder.search.search_settings import MOST_PAIRS, SearchSettings
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER
from phrasebeam.training.build.config import TrainModelConfig
from phrasebeam.training.common.settings import CUBE_200
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.tuning.config import TuneConfig

MOST_STAGES = 50
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
Share = Annotated[float, Field(gt=0, le=1)]
Size = Annotated[int, Field(ge=1, le=MOST_COMPARED)]


class RecipeStage(Section):
    """What all stages have: a name, that of their kind unless given, and the model that they begin with."""

    name: Name | Literal[""] = Field("", description="in reports and directories; by default the kind")
    start: Name | None = Field(None, description="name of the stage whose model it begins with; null: the best so far")


class BuildStage(RecipeStage):
    """The model of the bitext: the first stage of all recipes. Further ones are made otherwise, tuned and compared."""

    kind: Literal["train-model"]
    settings: TrainModelConfig = TrainModelConfig()
    word_classes: int = Field(
        0, ge=0, le=1000, description="of the target text, for a further language model over these; 0: none"
    )
    class_order: int = Field(7, ge=MIN_ORDER, le=MAX_ORDER, description="words of its longest n-grams")
    search: SearchSettings = Field(CUBE_200, description="that the model carries, and later stages with it")


class TuneStage(RecipeStage):
    """Weights tuned on the development data."""

    kind: Literal["tune"]
    settings: TuneConfig = TuneConfig()


class ExpectedBleuStage(RecipeStage):
    """Scores of phrase pairs learned on the training data."""

    kind: Literal["train-expected-bleu"]
    settings: ExpectedBleuConfig = ExpectedBleuConfig()


class MaxforceStage(RecipeStage):
    """Sparse features learned on the training data by the perceptron."""

    kind: Literal["train-maxforce"]
    settings: MaxforceConfig = MaxforceConfig()


class RankingStage(RecipeStage):
    """Sparse features learned on the training data by ranking."""

    kind: Literal["train-ranking"]
    settings: RankingConfig = RankingConfig()


class JoinStage(RecipeStage):
    """The model of one stage with the sparse features of another, tuned."""

    kind: Literal["join-features"]
    features: Name = Field(description="name of the stage whose sparse features the model gets")
    settings: TuneConfig = TuneConfig()


class SearchChoice(Section):
    """A search that is tried: what it has in place of the settings that the model carries."""

    distortion_limit: int | None = Field(None, ge=-1, le=COVERAGE_WINDOW, description="as in the search")
    max_phrase_length: int | None = Field(None, ge=1, le=20, description="as in the search")
    table_limit: int | None = Field(None, ge=0, le=MOST_PAIRS, description="as in the search")
    early_distortion: bool | None = Field(None, description="add the feature where weights are tuned again")

    def of(self, search: SearchSettings) -> SearchSettings:
        """The search with what is tried in its place. Raises ConfigError where the two do not go together."""
        given = self.model_dump(exclude={"early_distortion"}, exclude_none=True)
        return parse_config(search.model_dump() | given, SearchSettings, str(self))

    def __str__(self) -> str:
        """What is tried, in words."""
        given = self.model_dump(exclude_none=True)
        return ", ".join(f"{name} {value}" for name, value in given.items()) or "the search as it is"


class ChooseStage(RecipeStage):
    """The search that is best on the development data, with weights tuned for it."""

    kind: Literal["choose"]
    searches: list[SearchChoice] = Field(
        [SearchChoice(distortion_limit=limit) for limit in (4, 6, 8, 10, 12)],
        min_length=1,
        max_length=100,
        description="that are tried",
    )
    tuned: int = Field(2, ge=1, le=100, description="of the best of them; the others are only tried")
    settings: TuneConfig = TuneConfig()


class RiskStage(RecipeStage):
    """Minimum Bayes risk: the size of lists and the scale of scores that are best on the development data."""

    kind: Literal["mbr"]
    sizes: list[Size] = Field([200], min_length=1, max_length=10, description="of the lists that are tried")
    scales: list[Factor] = Field([0.3, 1.0, 3.0], min_length=1, max_length=20, description="of scores that are tried")


AnyStage = Annotated[
    BuildStage | TuneStage | ChooseStage | ExpectedBleuStage | MaxforceStage | RankingStage | JoinStage | RiskStage,
    Field(discriminator="kind"),
]


class TwinSettings(Section):
    """What becomes of sentence pairs that repeat others of the training data, see phrasebeam.training.twins."""

    share: Share = Field(0.55, description="of the words, in the same order, that twins have in common on both sides")
    left_out_of: Literal["auto", "learning", "model", "nothing"] = Field(
        "auto",
        description="learning: all twins are; model: repetitions are left out of both, and what they repeat is learned "
        "from; auto: model where more than half of all pairs are twins, else learning; nothing: no search",
    )


class Recipe(Section):
    """Stages in their order. Each is kept where it translates held-out sentences better than the best before it."""

    held_out: float = Field(
        0.2,
        ge=0,
        le=0.5,
        description="share of the development data that decides and is not tuned on; 0: all of it is both",
    )
    twins: TwinSettings = TwinSettings()
    stages: list[AnyStage] = Field(min_length=1, max_length=MOST_STAGES, description="train-model first")

    @model_validator(mode="after")
    def _is_in_order(self) -> "Recipe":
        known: set[str] = set()
        for stage in self.stages:
            name = name_of(stage)
            if name in known:
                raise ValueError(f"two stages are called {name}; give one of them another name")
            if not known and stage.kind != "train-model":
                raise ValueError("train-model should be the first stage")
            if stage.kind == "train-model" and stage.start:
                raise ValueError(f"the stage {name} starts with {stage.start}; train-model begins with the texts alone")
            for other in before(stage):
                if other not in known:
                    raise ValueError(f"the stage {name} names {other}, expected a stage before it")
            if isinstance(stage, ChooseStage):
                _check_searches(stage)
            known.add(name)
        return self


def _check_searches(stage: ChooseStage) -> None:
    """Raise ValueError where a search that is to be tried cannot be, with the limits that models carry by default."""
    for choice in stage.searches:
        try:
            choice.of(CUBE_200)
        except ConfigError as error:
            raise ValueError(str(error)) from error


def name_of(stage: AnyStage) -> str:
    """What a stage is called."""
    return stage.name or stage.kind


def before(stage: AnyStage) -> Iterator[str]:
    """The stages that a stage names."""
    if stage.start:
        yield stage.start
    if isinstance(stage, JoinStage):
        yield stage.features


def recipe_file(recipe: str, directory: Path) -> Path:
    """The file of a recipe: `recipe` itself, or that of this name which comes with phrasebeam, in `directory`."""
    own = directory / f"recipe-{recipe}.yaml"
    return own if own.exists() else Path(recipe)
