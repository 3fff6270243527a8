"""A recipe: the stages from two text files to a model, each with the settings of its trainer."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import language_model_paths
from phrasebeam.training.recipe.chosen_search import ChooseStage
from phrasebeam.training.recipe.letter_model import LetterModelStage
from phrasebeam.training.recipe.refit import RefitStage
from phrasebeam.training.recipe.second_model import SecondModelStage
from phrasebeam.training.recipe.stages import (
    BuildStage,
    ExpectedBleuStage,
    JoinStage,
    MaxforceStage,
    RankingStage,
    RiskStage,
    TuneStage,
)
from phrasebeam.training.recipe_texts.held_out_pairs import LEAST_PAIRS
from phrasebeam.training.recipe_texts.recipe_data import TwinSettings

MOST_STAGES = 50
AnyStage = Annotated[
    BuildStage
    | TuneStage
    | ChooseStage
    | ExpectedBleuStage
    | MaxforceStage
    | RankingStage
    | JoinStage
    | SecondModelStage
    | LetterModelStage
    | RiskStage
    | RefitStage,
    Field(discriminator="kind"),
]


class Recipe(Section):
    """Stages that run in order. A stage is kept if it translates held-out sentences better than the best before it."""

    held_out: float = Field(
        0.2,
        ge=0,
        le=0.5,
        description="share of the development data that decides which stages are kept and is not tuned on; 0: all "
        "of it serves both purposes",
    )
    leave_out_seen: bool = Field(
        False, description="leave out development and test sentences that also occur in the training data"
    )
    dev_folds: int | None = Field(
        None,
        ge=2,
        le=1000,
        description="divide the training pairs into this many parts, and hold out one of them instead of "
        "development data: the pairs that most resemble new text",
    )
    dev_sentences: int = Field(
        500, ge=LEAST_PAIRS, le=MOST_COUNTED, description="maximum number of sentence pairs to hold out"
    )
    metric: MetricName = Field(
        "bleu",
        description=(
            "metric that decides which stages are kept, and that stages optimize unless their settings name another"
        ),
    )
    varieties: Literal["all", "largest"] = Field(
        "all",
        description="spelling varieties of the target text to train on: all, or the one with the most sentence pairs",
    )
    twins: TwinSettings = TwinSettings()
    stages: list[AnyStage] = Field(
        min_length=1, max_length=MOST_STAGES, description="stages in their order, the first of kind train-model"
    )

    @model_validator(mode="after")
    def _is_in_order(self) -> "Recipe":
        known: set[str] = set()
        for stage in self.stages:
            name = stage.label
            if name in known:
                raise ValueError(f"two stages are called {name}; give one of them another name")
            if not known and not stage.builds:
                raise ValueError("train-model should be the first stage")
            if stage.builds and stage.start:
                raise ValueError(f"the stage {name} starts with {stage.start}; train-model starts only from the texts")
            for other in (*([stage.start] if stage.start else []), *stage.others):
                if other not in known:
                    raise ValueError(f"the stage {name} names {other}, expected a stage before it")
            known.add(name)
        self._check_refit()
        self._check_evidence()
        return self

    def _check_refit(self) -> None:
        """Raise ValueError if refit is not the last stage, or cannot repeat the result of a stage before it."""
        places = [i for i, stage in enumerate(self.stages, 1) if isinstance(stage, RefitStage)]
        if places and places != [len(self.stages)]:
            raise ValueError("refit should be the last stage")
        if places and (others := self._learned()):
            raise ValueError(
                f"refit builds the model again, without the result of {others[0]}; leave out one of the two"
            )

    def _check_evidence(self) -> None:
        """Raise ValueError if a stage gives a second model a share, and no stage before it builds such a model."""
        kinds = [stage.kind for stage in self.stages]
        for i, stage in enumerate(self.stages):
            if isinstance(stage, RiskStage) and any(stage.evidence) and "second-model" not in kinds[:i]:
                raise ValueError(
                    f"the stage {stage.label} has evidence, expected a stage of kind second-model before it"
                )

    def _learned(self) -> list[str]:
        """The stages after the first that change more than weights and search settings of its model."""
        kept = (TuneStage, ChooseStage, RiskStage, RefitStage)
        return [stage.label for stage in self.stages[1:] if not isinstance(stage, kept) or _learns_sparse(stage)]

    def refitting(self, is_held_out: bool) -> Self:
        """The recipe, with refit as last stage if training pairs are held out and refit is possible; else without."""
        stages: list[AnyStage] = [stage for stage in self.stages if not isinstance(stage, RefitStage)]
        if is_held_out and not self._learned():
            stages.append(RefitStage(kind="refit"))
        return self.model_copy(update={"stages": stages})

    @property
    def builds(self) -> list[BuildStage]:
        """The stages that make models of the bitext."""
        return [stage for stage in self.stages if isinstance(stage, BuildStage)]

    @property
    def is_raw(self) -> bool:
        """Whether the text is raw."""
        return self.builds[0].settings.preprocessing is not None

    @property
    def language_model_texts(self) -> list[Path]:
        """The files of text and word classes, besides the bitext, from which its language models are made."""
        paths = (language_model_paths(stage.settings).values() for stage in self.builds)
        return [*dict.fromkeys(Path(path) for some in paths for path in some)]

    def within(self, bounds: Mapping[str, int]) -> Self:
        """The recipe with these bounds on threads and on bytes of memory (by name) in all stages."""
        return self.model_copy(update={"stages": [stage.within(bounds) for stage in self.stages]})

    def by_metric(self) -> Self:
        """The recipe whose stages optimize its metric, if it sets one, and unless a stage sets another one."""
        if "metric" not in self.model_fields_set:
            return self
        return self.model_copy(update={"stages": [stage.by_metric(self.metric) for stage in self.stages]})

    def with_builds(self, changed: Callable[[TrainModelConfig], TrainModelConfig]) -> Self:
        """The recipe with the settings of stages that build models replaced by the result of `changed`."""
        built = {stage.label: {"settings": changed(stage.settings)} for stage in self.builds}
        stages = [stage.model_copy(update=built.get(stage.label)) for stage in self.stages]
        return self.model_copy(update={"stages": stages})


def _learns_sparse(stage: AnyStage) -> bool:
    """Whether a stage that tunes weights gives sparse features weights of their own."""
    return isinstance(stage, TuneStage | ChooseStage) and stage.settings.learns_sparse


def recipe_file(recipe: str, directory: Path) -> Path:
    """The file of a recipe: the one with this name in `directory`, which comes with phrasebeam, or else `recipe`."""
    own = directory / f"recipe-{recipe}.yaml"
    return own if own.exists() else Path(recipe)
