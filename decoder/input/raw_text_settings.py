"""Settings of the conversion of raw text to tokens: languages, tokenizers, normalization, casing, escapes."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, Field, model_validator

from phrasebeam.base.config import Section, parse_config
from phrasebeam.base.errors import ConfigError

Casing = Literal["truecase", "lowercase", "keep"]
TokenizerName = Literal["moses", "neutral", "characters", "subwords", "whitespace"]
Side = Literal["source", "target"]
SubwordKind = Literal["unigram", "bpe"]
TOKENIZER_OF_LANGUAGE = "moses for languages that it has rules for, else neutral"
# Languages for which Moses' tokenizer has rules or abbreviations, except those written without spaces
MOSES_LANGUAGES = frozenset(
    (
        *("as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn"),
        *("lt", "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te"),
    )
)
# BCP 47: a language, and perhaps script, region, variants and extensions; or private use alone.
LANGUAGE_TAG = r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*|[xX](?:-[A-Za-z0-9]{1,8})+"


def _language(code: str) -> str:
    if not re.fullmatch(LANGUAGE_TAG, code):
        raise ValueError("should be a language code (BCP 47), such as de, bzd or zh-Hans")
    return code


Language = Annotated[str, AfterValidator(_language)]


class TextLanguages(Section):
    """The languages of a model that is trained on tokenized text; servers and documents use them."""

    source_language: Language
    target_language: Language


class SubwordSettings(Section):
    """How SentencePiece splits words."""

    pieces: int = Field(8000, ge=10, le=1_000_000, description="maximum number of distinct pieces")
    kind: SubwordKind = Field("unigram", description="unigram language model (Kudo 2018), or byte-pair encoding")
    source_model: str | None = Field(
        default=None, description="SentencePiece model for the source side; none: train one on the text"
    )
    target_model: str | None = Field(
        default=None, description="SentencePiece model for the target side; none: train one on the text"
    )

    def model(self, side: Side) -> str | None:
        """The model given for a side."""
        return self.source_model if side == "source" else self.target_model


class SideSettings(NamedTuple):
    """How raw text of one side is converted to tokens."""

    language: str
    tokenizer: TokenizerName
    normalize: bool
    escape: bool
    subwords: SubwordSettings
    subword_model: str | None


class RawTextSettings(Section):
    """How raw text is tokenized for a model, and how tokens are joined to raw text."""

    source_language: Language
    target_language: Language
    source_tokenizer: TokenizerName | None = Field(
        default=None, description="tokenizer of the source side; none: by language"
    )
    target_tokenizer: TokenizerName | None = Field(
        default=None, description="tokenizer of the target side; none: by language"
    )
    subwords: SubwordSettings = SubwordSettings()
    normalize: bool = Field(
        default=True, description="moses: compose characters (NFC), and make quotation marks, dashes and spaces ASCII"
    )
    casing: Casing = Field(
        default="truecase",
        description="case of the tokens: truecase, as in mid-sentence; lowercase; or keep, unchanged",
    )
    capitalize: bool | None = Field(
        default=None,
        description="translations begin with a capital letter; none: if most target sentences of the training text do",
    )
    escape: bool = Field(
        default=True, description="moses: write & | < > ' \" [ ] as &amp; &#124; ..., as Moses' models do"
    )

    @model_validator(mode="before")
    @classmethod
    def _choose_tokenizers(cls, data: Any) -> Any:
        """Set the tokenizers of both sides, so that a model keeps them even if the defaults change later."""
        if not isinstance(data, Mapping):
            return data
        chosen = {}
        for side in get_args(Side):
            language = data.get(f"{side}_language")
            if isinstance(language, str) and data.get(f"{side}_tokenizer") is None:
                chosen[f"{side}_tokenizer"] = tokenizer_of(language)
        return {**data, **chosen}

    @property
    def sides(self) -> tuple[SideSettings, SideSettings]:
        """The settings of source and target."""
        return (
            self._side("source", self.source_language, self.source_tokenizer),
            self._side("target", self.target_language, self.target_tokenizer),
        )

    def _side(self, side: Side, language: str, tokenizer: TokenizerName | None) -> SideSettings:
        subwords = self.subwords
        return SideSettings(
            language, tokenizer or "neutral", self.normalize, self.escape, subwords, subwords.model(side)
        )


def primary_language(code: str) -> str:
    """The language of a code in lower case, without script, region and the like."""
    return re.split("[-_]", code.lower())[0]


def tokenizer_of(language: str) -> TokenizerName:
    """The default tokenizer for a language."""
    return "moses" if primary_language(language) in MOSES_LANGUAGES else "neutral"


def raw_preprocessing(section: Mapping[str, object], given: Mapping[str, object]) -> RawTextSettings:
    """The settings of `section`, overridden by those in `given` (options). Raises ConfigError.

    If the language differs from that of the section, its default tokenizer is chosen again, unless one is given.
    """
    known = {side: section.get(f"{side}_language") for side in get_args(Side)}
    other = {f"{side}_tokenizer" for side in known if given.get(f"{side}_language", known[side]) != known[side]}
    settings = {name: value for name, value in section.items() if name not in other} | dict(given)
    if not settings.keys() >= {"source_language", "target_language"}:
        raise ConfigError("raw text needs both languages; give --source-language and --target-language (de, en ...)")
    return parse_config(settings, RawTextSettings, "options")
