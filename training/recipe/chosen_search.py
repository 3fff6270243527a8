"""Chooses search settings for a language pair: distortion limit, phrase length, table limit, early distortion.

Candidates are first tried with the model's weights, which takes one decoding each. For the best few, the weights are
tuned again, and the candidate that then scores best is used. All scores are on the tuning set.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from phrasebeam.base.config import Section, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.base.progress import stage as logged
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.search.search_settings import MOST_PAIRS, SearchSettings
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.common.settings import CUBE_200
from phrasebeam.training.recipe.stage import StageWork, TrainerStage, tried_in, with_seeds, write_changed
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

OPTIMIZING = 2.0  # an iteration of tuning takes as long as two decodings of its sentences
REACH = ("distortion_limit", "max_phrase_length", "table_limit")
Settings = TypeVar("Settings", bound=Section)


class SearchChoice(Section):
    """Search settings to try instead of those of the model."""

    distortion_limit: int | None = Field(None, ge=-1, le=COVERAGE_WINDOW, description="value for this search")
    max_phrase_length: int | None = Field(None, ge=1, le=20, description="value for this search")
    table_limit: int | None = Field(None, ge=0, le=MOST_PAIRS, description="value for this search")
    early_distortion: bool | None = Field(None, description="add this feature when weights are tuned again")

    def of(self, search: SearchSettings) -> SearchSettings:
        """`search` with the settings to try. Raises ConfigError if they contradict its other settings."""
        given = self.model_dump(exclude={"early_distortion"}, exclude_none=True)
        return parse_config(search.model_dump() | given, SearchSettings, str(self))

    def __str__(self) -> str:
        """The settings that are tried, in words."""
        given = self.model_dump(exclude_none=True)
        return ", ".join(f"{name} {value}" for name, value in given.items()) or "the present search"


class ChooseStage(TrainerStage):
    """Chooses the search settings that are best on the development data, and tunes weights for them."""

    kind: Literal["choose"]
    searches: list[SearchChoice] = Field(
        [SearchChoice(distortion_limit=limit) for limit in (4, 6, 8, 10, 12)],
        min_length=1,
        max_length=100,
        description="to try",
    )
    tuned: int = Field(
        2, ge=1, le=100, description="for how many of the best searches weights are tuned; the others are only tried"
    )
    settings: TuneConfig = TuneConfig()

    @model_validator(mode="after")
    def _has_searches_that_can_be(self) -> Self:
        """Check that the searches are valid with the default limits of models."""
        for choice in self.searches:
            try:
                choice.of(CUBE_200)
            except ConfigError as error:
                raise ValueError(str(error)) from error
        return self

    def decodings(self, sentences: Mapping[str, int]) -> float:
        """Number of sentences: the development data for each search, and tuning for the best searches."""
        n_tried = len(self.searches) * sentences["development"]
        return n_tried + self.tuned * tuning_decodings(self.settings, sentences)

    def run(self, work: StageWork) -> None:
        """Try the searches, and tune the weights for the best of them."""
        choose(self, work.model, work.tuning, work.output)


def tuning_decodings(settings: TuneConfig, sentences: Mapping[str, int]) -> float:
    """The approximate time of tuning, as a number of decoded sentences; the time of optimizing is included."""
    n_runs = len(settings.seeds) * max(1, len(settings.c))
    return n_runs * settings.iterations * sentences["development"] * OPTIMIZING


class TriedSearches(Section):
    """The content of tried.yaml: development scores of searches, by name, before and after tuning; higher is better."""

    untuned: dict[str, float] = Field({})
    tuned: dict[str, float] = Field({})


def choose(stage: ChooseStage, model: Path, data: BitextFiles, output: Path) -> None:
    """Write `model` to `output` with the best search, and with weights that are tuned for it. Raises SmtError."""
    work = tried_in(output)
    carried = ModelSearch.of(model).search
    searches = {str(choice): (choice, choice.of(carried)) for choice in stage.searches}
    path = work / "tried.yaml"
    work.mkdir(parents=True, exist_ok=True)
    tried = load_config(path, TriedSearches) if path.exists() else TriedSearches()
    read, opened = read_development(data, stage.settings), open_model(model)
    for name, (_, search) in searches.items():
        if name not in tried.untuned:
            # Before tuning, early distortion has no weight and no effect, so equal searches are decoded only once.
            known = (other for other, (_, equal) in searches.items() if equal == search and other in tried.untuned)
            score = tried.untuned.get(next(known, ""))
            if score is None:
                with logged(f"trying {name}"):
                    score = read.score(Decoder(opened, search)).score
            tried = tried.model_copy(update={"untuned": tried.untuned | {name: score}})
            save_config(tried, path)
        log.info("%s: %.2f", name, read.reported(tried.untuned[name]))
    order, places = sorted(searches, key=lambda name: -tried.untuned[name]), {}
    for name in order[: stage.tuned]:
        places[name] = work / str(list(searches).index(name))
        results = tune_model(model, data, places[name], _tuning(stage, *searches[name]))
        score = max(read.reported(result.score) for result in results)
        tried = tried.model_copy(update={"tuned": tried.tuned | {name: score}})
        save_config(tried, path)
        log.info("%s, tuned: %.2f", name, read.reported(tried.tuned[name]))
    best = max(places, key=lambda name: tried.tuned[name])
    made: dict[str, Any] = {"search": searches[best][0].model_dump(exclude_none=True)}
    untuned, tuned = read.reported(tried.untuned[best]), read.reported(tried.tuned[best])
    gain = f"{stage.settings.metric} {untuned:.2f} untuned, {tuned:.2f} tuned"
    write_changed(places[best], output, Making("choose", made, gain=gain))


def _tuning(stage: ChooseStage, choice: SearchChoice, search: SearchSettings) -> TuneConfig:
    """The settings of tuning for a search that is tried."""
    update: dict[str, Any] = {"search": search}
    if choice.early_distortion:
        update["add"] = stage.settings.add.model_copy(update={"early_distortion": True})
    return stage.settings.model_copy(update=update)


def as_carried(settings: Settings, model: Path) -> Settings:
    """Settings of a trainer with the model's limits of search (REACH), where they do not set searches themselves."""
    reach = ModelSearch.of(model).search.model_dump(include={*REACH})
    update: dict[str, Any] = {}
    for name in ("search", "development_search"):
        search = getattr(settings, name, None)
        if isinstance(search, SearchSettings) and name not in settings.model_fields_set:
            update[name] = search.model_copy(update=reach)
    tune = getattr(settings, "tune", None)
    if isinstance(tune, TuneConfig) and tune.search and _is_default(settings, tune):
        update["tune"] = tune.model_copy(update={"search": tune.search.model_copy(update=reach)})
    return settings.model_copy(update=update)


def _is_default(settings: Section, tune: TuneConfig) -> bool:
    """Whether the tuning settings are the defaults, apart from seeds, which with_seeds may have changed."""
    if "tune" not in settings.model_fields_set:
        return True
    default = type(settings).model_fields["tune"].default
    return isinstance(default, TuneConfig) and tune == with_seeds(default, tune.seeds[0] - default.seeds[0])
