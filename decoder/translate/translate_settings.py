"""What a configuration file of `translate` may say, and how options of commands override it."""

from typing import Any, TypeVar

from phrasebeam.base.config import Section, parse_config
from phrasebeam.base.memory_bound import MemorySettings
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.search.search_settings import SearchSettings

Settings = TypeVar("Settings", bound=Section)
Flags = dict[str, Any]  # values of options by the names of settings; None where not given


class TranslateSettings(MemorySettings):
    """What a configuration file for `translate` may say."""

    search: SearchSettings = SearchSettings()
    weights: Weights | None = None
    mbr: MbrSettings | None = None
    input: InputSettings = InputSettings()


def overridden(section: Settings, flags: Flags, where: str) -> Settings:
    """The section with those settings that flags give. Raises ConfigError, which says `where` they are."""
    given = {name: value for name, value in flags.items() if value is not None}
    return parse_config(section.model_dump() | given, type(section), where)
