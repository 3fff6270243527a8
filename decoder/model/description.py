"""model.yaml: what a model directory says of itself."""

from typing import Literal

from pydantic import (
    Field,
)

from phrasebeam.base.config import Section
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.input.raw_text_settings import Preprocessing
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE

MODEL_FORMAT = "phrasebeam model 1"


class LanguageModelFile(Section):
    """A language model beside the phrase table: its file in the model directory, and for a class model the classes."""

    file: str = "lm.bin"
    classes: str | None = Field(default=None, description="file of lines 'word class'; the model is over classes")


class ModelDescription(Section):
    """model.yaml: what a model is and how it was made."""

    format: Literal["phrasebeam model 1"]
    version: str
    signature: str
    sentence_pairs: int
    source_words: int
    target_words: int
    max_source_phrase_length: int = Field(ge=1)
    max_target_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_pairs_per_source_phrase: int | None = Field(None, ge=1)  # None in models made before it was counted
    language_model_order: int
    language_models: list[LanguageModelFile] = Field(default=[LanguageModelFile()], min_length=1)
    reordering: Reordering | None
    preprocessing: Preprocessing | None = None  # of raw text; none: the model knows tokenized text alone
    settings: dict[str, object]
    data: dict[str, object]
