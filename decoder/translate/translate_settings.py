"""Settings of the search: the model's search.yaml, overridden by a configuration file, which options override."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from phrasebeam.base.config import Given, Section, given_settings, load_config, parse_config
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.tables.model_paths import LARGEST_TEXT, model_file

Settings = TypeVar("Settings", bound=Section)
Flags = dict[str, Any]  # values of options by the names of settings; None if not given


class ModelSearch(Section):
    """Content of a model's search.yaml: the default settings of the search of the model."""

    search: SearchSettings = SearchSettings()
    mbr: MbrSettings | None = Field(None, description="minimum Bayes risk decoding; none: choose the best derivation")
    input: InputSettings = InputSettings()
    confidence: ConfidenceSettings = ConfidenceSettings()

    @classmethod
    def of(cls, model: str | Path) -> "ModelSearch":
        """The settings in search.yaml of a model directory; the defaults if it has no such file. Raises SmtError."""
        if not (Path(model) / SEARCH).exists():
            return cls()
        return load_config(model_file(Path(model), SEARCH, LARGEST_TEXT), cls)


class TranslateSettings(ModelSearch, MemorySettings):
    """All settings of how sentences are read, searched and chosen."""

    weights: Weights | None = Field(
        None, description="weights instead of those of the model; none: those of weights.yaml"
    )
    adaptation: AdaptationSettings = AdaptationSettings()


def translate_settings(model: Path, config: Given | None) -> TranslateSettings:
    """The settings of the model directory, overridden by those in `config`. Raises SmtError."""
    found = ModelSearch.of(model).model_dump(mode="json", exclude_unset=True)
    given = given_settings(config, TranslateSettings)
    for name, section in given.items():
        old = found.get(name)
        found[name] = old | section if isinstance(old, dict) and isinstance(section, dict) else section
    beside = config if isinstance(config, (str, Path)) else "the settings given" if config else "the defaults"
    return parse_config(found, TranslateSettings, f"{model / SEARCH} with {beside}")


def overridden(section: Settings, flags: Flags, where: str) -> Settings:
    """The section, overridden by the settings in `flags`. Raises ConfigError, in which `where` is their place."""
    given = {name: value for name, value in flags.items() if value is not None}
    return parse_config(section.model_dump() | given, type(section), where)
