"""How raw text becomes tokens: languages, normalization, casing, escapes."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from phrasebeam.base.config import Section, parse_config
from phrasebeam.base.errors import ConfigError

Casing = Literal["truecase", "lowercase", "keep"]
# Languages written without spaces between words, which Moses' tokenizer does not segment.
WITHOUT_SPACES = {"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"}


def _language(code: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", code):
        raise ValueError("should be a language code of two or three letters, such as de")
    if code in WITHOUT_SPACES:
        raise ValueError("is written without spaces, which Moses' tokenizer cannot split; give tokenized text")
    return code


Language = Annotated[str, AfterValidator(_language)]


class RawTextSettings(Section):
    """How raw text becomes the tokenized text of a model, after Moses' scripts, and back."""

    source_language: Language
    target_language: Language
    normalize: bool = Field(default=True, description="make quotation marks, dashes and spaces ASCII")
    casing: Casing = Field(default="truecase", description="of the tokens: as in mid-sentence, lower, or untouched")
    escape: bool = Field(default=True, description="write & | < > ' \" [ ] as &amp; &#124; ..., as Moses' models do")


def raw_preprocessing(section: Mapping[str, object], source: str | None, target: str | None) -> RawTextSettings:
    """The settings of `section` with the languages given by options. Raises ConfigError where one is missing."""
    languages = {name: code for name, code in (("source_language", source), ("target_language", target)) if code}
    settings = {**section, **languages}
    if not settings.keys() >= {"source_language", "target_language"}:
        raise ConfigError("raw text needs both languages; give --source-language and --target-language (de, en ...)")
    return parse_config(settings, RawTextSettings, "options")
