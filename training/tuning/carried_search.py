"""Search settings during and after tuning: those in the tuning settings, or else those of the model."""

from pathlib import Path
from typing import TypeVar

from phrasebeam.base.config import Section, save_config
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.common.derived_model import DerivedModel
from phrasebeam.training.tuning.config import TuneConfig

Settings = TypeVar("Settings", bound=Section)


def with_search(config: TuneConfig, model: Path) -> TuneConfig:
    """`config` with search settings: its own, or else those of the model directory. Raises ConfigError."""
    return config.model_copy(update={"search": config.search or ModelSearch.of(model).search})


def with_inner_search(config: Settings, model: Path) -> Settings:
    """Settings of a trainer, with with_search applied to its tuning settings `tune`, if it has any."""
    tune = getattr(config, "tune", None)
    return config.model_copy(update={"tune": with_search(tune, model)}) if isinstance(tune, TuneConfig) else config


def save_search(config: TuneConfig, derived: DerivedModel) -> list[str]:
    """Write the search settings of `config`, if it has any, to the derived model; returns names of written files."""
    if config.search is None:
        return []
    carried = ModelSearch.of(derived.model).model_dump(exclude_unset=True) | {"search": config.search}
    save_config(ModelSearch.model_validate(carried), derived.output / SEARCH)
    return [SEARCH]
