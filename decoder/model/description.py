"""model.yaml: the description of a model directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, Section, load_config
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, TextLanguages
from phrasebeam.decoder.model.digests import Digest, FileName, copy_or_accept, digest_of, new_digests
from phrasebeam.decoder.model.moses_names import MOST_FEATURES, MosesFeature
from phrasebeam.decoder.tables.model_files import MODEL
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.decoder.tables.provenance import Stage
from phrasebeam.decoder.tables.score_codes import ScoreLoss
from phrasebeam.decoder.tables.score_smoothing import ScoreSmoothing
from phrasebeam.lm.ngrams import MAX_ORDER

MODEL_FORMAT = "phrasebeam model 2"
WITHOUT_DIGESTS = "phrasebeam model 1"  # the format of older models, which have no digests
OWN_DIGEST = b"digest: "  # starts the last line of model.yaml, the digest of all lines before


class LanguageModelFile(Section):
    """A language model: its file in the model directory and, for a model over word classes, the file of the classes."""

    file: str = "lm.bin"
    classes: str | None = Field(default=None, description="file of word classes; the model is over these")


class ModelDescription(Section):
    """Description of a model and how it was made; sizes are in words unless their names say otherwise."""

    format: Literal["phrasebeam model 1", "phrasebeam model 2"]
    version: str
    signature: str
    sentence_pairs: int = Field(ge=0, le=MOST_COUNTED)
    source_words: int = Field(ge=0, le=MOST_COUNTED)
    target_words: int = Field(ge=0, le=MOST_COUNTED)
    max_source_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_target_phrase_length: int = Field(ge=1, le=LONGEST_PHRASE)
    max_pairs_per_source_phrase: int | None = Field(None, ge=1, le=MOST_COUNTED)  # None: not recorded by older models
    language_model_order: int = Field(ge=1, le=MAX_ORDER)
    language_models: list[LanguageModelFile] = Field(default=[LanguageModelFile()], min_length=1, max_length=64)
    smoothing: ScoreSmoothing | None = None  # of the phrase table's p(f|e) and p(e|f); None: relative frequencies
    score_loss: ScoreLoss | None = None  # of 8-bit scores; None: scores are as they were estimated or imported
    alignments: int = Field(1, ge=1, le=MOST_COUNTED)  # word alignments for each of its sentence pairs
    agreement: int = Field(1, ge=1, le=MOST_COUNTED)  # how many of these had to allow each phrase pair
    reordering: Reordering | None
    preprocessing: RawTextSettings | None = None  # of raw text; None: the model was made from tokenized text
    languages: TextLanguages | None = None  # of tokenized text, if known
    moses_names: list[MosesFeature] = Field(default=[], max_length=MOST_FEATURES)  # of an imported model
    settings: dict[str, object]  # settings of the training that determine the result
    data: dict[str, object]  # name and digest of each training file
    stages: list[Stage] = Field(default=[], max_length=1000)  # the commands that made the model, one after the other
    files: dict[FileName, Digest] = Field(default={})  # all other files of the model
    digest: Digest | None = None  # of model.yaml up to this line, which is its last

    @model_validator(mode="after")
    def _older_ones_have_no_digests(self) -> "ModelDescription":
        if not self.has_digests and (self.files or self.digest):
            raise ValueError(f"digests are of {MODEL_FORMAT!r}, found the format {self.format!r}")
        return self

    @property
    def text_languages(self) -> TextLanguages | RawTextSettings | None:
        """The settings with the languages of the model's text, raw or tokenized."""
        return self.preprocessing or self.languages

    @property
    def has_digests(self) -> bool:
        """Whether the model has digests; models of an older format have none."""
        return self.format != WITHOUT_DIGESTS

    @property
    def is_estimated(self) -> bool:
        """Whether counts and probabilities were estimated from a bitext; in imported models they can be any numbers."""
        return self.sentence_pairs > 0


def save_description(description: ModelDescription, directory: Path, known: Mapping[str, str] = {}) -> ModelDescription:
    """Write model.yaml, after all other files, with their digests; return it. `known`: digests of some of the files."""
    named = [name for one in description.language_models for name in (one.file, one.classes) if name]
    files = new_digests(directory, named, known)
    written = description.model_copy(update={"format": MODEL_FORMAT, "files": files})
    data = written.model_dump(mode="json", exclude={"digest"})
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True).encode("utf-8")
    with atomic_file(directory / MODEL) as file:
        file.write(_with_digest(text))
    return written.model_copy(update={"digest": digest_of(text)})


def open_description(directory: Path, is_verified: bool = True) -> ModelDescription:
    """Read model.yaml; if it `is_verified`, compare it with its digest. Raises ConfigError or FormatError."""
    path = directory / MODEL
    description = load_config(path, ModelDescription)
    if description.has_digests and is_verified:
        content = path.read_bytes()
        if content != _with_digest(content.rpartition(OWN_DIGEST)[0]):
            raise FormatError(path, f"does not match the digest in its last line; {copy_or_accept(directory)}")
    return description


def accept_files(directory: Path) -> None:
    """Rewrite model.yaml with the digests of all files in their present state. Raises ConfigError or OSError."""
    save_description(open_description(directory, is_verified=False), directory)


def _with_digest(text: bytes) -> bytes:
    return text + OWN_DIGEST + f"{digest_of(text)}\n".encode()
