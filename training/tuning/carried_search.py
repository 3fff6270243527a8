"""Search settings during and after tuning: those of the model, or those in the tuning settings."""

from pathlib import Path
from typing import TypeVar

from phrasebeam.base.config import Section, save_config
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.common.derived_model import DerivedModel
from phrasebeam.training.tuning.config import TuneConfig

Settings = TypeVar("Settings", bound=Section)


def with_search(config: TuneConfig, model: Path) -> TuneConfig:
    """The settings, with the search settings of the model directory if they have none. Raises ConfigError."""
    return config.model_copy(update={"search": config.search or ModelSearch.of(model).search})


def with_inner_search(config: Settings, model: Path) -> Settings:
    """Settings of a trainer that tunes before it scores (`tune`) with the search of the model directory, likewise."""
    tune = getattr(config, "tune", None)
    return config.model_copy(update={"tune": with_search(tune, model)}) if isinstance(tune, TuneConfig) else config


def save_search(config: TuneConfig, derived: DerivedModel) -> list[str]:
    """Let the derived model carry the search of the settings, if they have one; returns the names of written files."""
    if config.search is None:
        return []
    carried = ModelSearch.of(derived.model).model_dump(exclude_unset=True) | {"search": config.search}
    save_config(ModelSearch.model_validate(carried), derived.output / SEARCH)
    return [SEARCH]
