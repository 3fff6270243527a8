"""A saved aligner: the models of both directions with their vocabularies, and how raw text becomes tokens for it.

The directory has aligner.yaml, source.vocab, target.vocab, and Thot's files source_to_target.* and target_to_source.*.
For raw text it also has the truecasers and the trained tokenizers, under the names that they have in a model directory.
"""

from pathlib import Path
from typing import Literal

from phrasebeam.base.config import Section, load_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.raw_text.preprocessing import RawText
from phrasebeam.decoder.tables.model_files import ALIGNER
from phrasebeam.decoder.tables.provenance import check_output
from phrasebeam.lm.text.vocabulary import Vocabulary
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.word_alignment.alignment import BOTH
from phrasebeam.training.word_alignment.alignment_settings import AlignmentConfig

VOCABULARIES = "source.vocab", "target.vocab"
START = "format: phrasebeam aligner"


class AlignerDescription(Section):
    """The content of aligner.yaml."""

    format: Literal["phrasebeam aligner 1"] = "phrasebeam aligner 1"
    alignment: AlignmentConfig
    preprocessing: RawTextSettings | None = None  # None: the text is tokenized


def is_saved_aligner(directory: Path) -> bool:
    """Whether `directory` has a saved aligner."""
    return (directory / ALIGNER).is_file()


def check_saveable(directory: Path, is_forced: bool) -> None:
    """Raise ConfigError unless an aligner may be written to `directory`; `is_forced`: it may replace another one."""
    check_output(directory, ALIGNER, START, "a saved aligner")
    if is_saved_aligner(directory) and not is_forced:
        raise ConfigError(f"{directory}: has a saved aligner; give --force to replace it, or another --save")


def save_description(directory: Path, bitext: Bitext, description: AlignerDescription) -> None:
    """Write the files that Thot does not write: vocabularies and aligner.yaml."""
    for name, vocabulary in zip(VOCABULARIES, (bitext.source_vocabulary, bitext.target_vocabulary)):
        vocabulary.save(directory / name)
    save_config(description, directory / ALIGNER)


def open_aligner(directory: Path) -> tuple[AlignerDescription, tuple[Vocabulary, Vocabulary]]:
    """Read the description of a saved aligner, and its vocabularies. Raises SmtError or OSError."""
    description = load_config(directory / ALIGNER, AlignerDescription)
    for name in BOTH:
        if not (directory / f"{name}.yml").is_file():
            raise FormatError(directory / f"{name}.yml", "missing; save the aligner again")
    source, target = (Vocabulary(read_lines(directory / name)) for name in VOCABULARIES)
    return description, (source, target)


def raw_text_of(directory: Path) -> RawText:
    """The preprocessing of a saved aligner of raw text. Raises SmtError if the aligner is for tokenized text."""
    settings = load_config(directory / ALIGNER, AlignerDescription).preprocessing
    if settings is None:
        raise ModelError(f"{directory}: an aligner for tokenized text; save one with align --raw")
    return RawText.of(settings, directory)
