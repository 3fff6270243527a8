"""model.yaml: the description of a model directory."""

from typing import Literal

from pydantic import (
    Field,
)

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.lm.ngrams import MAX_ORDER

MODEL_FORMAT = "phrasebeam model 1"


class LanguageModelFile(Section):
    """A language model: its file in the model directory and, for a model over word classes, that of the classes."""

    file: str = "lm.bin"
    classes: str | None = Field(default=None, description="file of lines 'word class'; the model is over classes")


class ModelDescription(Section):
    """What a model is and how it was made; sizes are in words unless their names say otherwise."""

    format: Literal["phrasebeam model 1"]
    version: str
    signature: str
    sentence_pairs: int = Field(ge=0, le=MOST_COUNTED)
    source_words: int = Field(ge=0, le=MOST_COUNTED)
    target_words: int = Field(ge=0, le=MOST_COUNTED)
    max_source_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_target_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_pairs_per_source_phrase: int | None = Field(None, ge=1, le=MOST_COUNTED)  # None: older models do not record it
    language_model_order: int = Field(ge=1, le=MAX_ORDER)
    language_models: list[LanguageModelFile] = Field(default=[LanguageModelFile()], min_length=1, max_length=64)
    reordering: Reordering | None
    preprocessing: RawTextSettings | None = None  # of raw text; None: the model was made of tokenized text
    settings: dict[str, object]  # those of the training that decide about the result
    data: dict[str, object]  # name and digest of each training file
