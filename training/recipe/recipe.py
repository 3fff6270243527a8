"""A recipe: the stages from two text files to a model, each with the settings of its trainer."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from phrasebeam.base.config import Section
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import language_model_paths
from phrasebeam.training.recipe.chosen_search import ChooseStage
from phrasebeam.training.recipe.recipe_data import TwinSettings
from phrasebeam.training.recipe.stages import (
    BuildStage,
    ExpectedBleuStage,
    JoinStage,
    MaxforceStage,
    RankingStage,
    RiskStage,
    TuneStage,
)

MOST_STAGES = 50
AnyStage = Annotated[
    BuildStage | TuneStage | ChooseStage | ExpectedBleuStage | MaxforceStage | RankingStage | JoinStage | RiskStage,
    Field(discriminator="kind"),
]


class Recipe(Section):
    """Stages in their order. Each is kept where it translates held-out sentences better than the best before it."""

    held_out: float = Field(
        0.2,
        ge=0,
        le=0.5,
        description="share of the development data that decides and is not tuned on; 0: all of it is both",
    )
    leave_out_seen: bool = Field(
        False, description="leave out development and test sentences that are in the training data, too"
    )
    twins: TwinSettings = TwinSettings()
    stages: list[AnyStage] = Field(min_length=1, max_length=MOST_STAGES, description="train-model first")

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
                raise ValueError(f"the stage {name} starts with {stage.start}; train-model begins with the texts alone")
            for other in (*([stage.start] if stage.start else []), *stage.others):
                if other not in known:
                    raise ValueError(f"the stage {name} names {other}, expected a stage before it")
            known.add(name)
        return self

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
        """The files of text and word classes that language models of its stages are made of, besides the bitext."""
        paths = (language_model_paths(stage.settings).values() for stage in self.builds)
        return [*dict.fromkeys(Path(path) for some in paths for path in some)]

    def within(self, bounds: Mapping[str, int]) -> Self:
        """The recipe whose stages keep to these threads and bytes of memory, by name."""
        return self.model_copy(update={"stages": [stage.within(bounds) for stage in self.stages]})

    def with_builds(self, changed: Callable[[TrainModelConfig], TrainModelConfig]) -> Self:
        """The recipe whose models of the bitext have the settings that `changed` makes of theirs."""
        built = {stage.label: {"settings": changed(stage.settings)} for stage in self.builds}
        stages = [stage.model_copy(update=built.get(stage.label)) for stage in self.stages]
        return self.model_copy(update={"stages": stages})


def recipe_file(recipe: str, directory: Path) -> Path:
    """The file of a recipe: `recipe` itself, or that of this name which comes with phrasebeam, in `directory`."""
    own = directory / f"recipe-{recipe}.yaml"
    return own if own.exists() else Path(recipe)
