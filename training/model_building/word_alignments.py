"""The word alignments of a model's bitext: given, kept by another model of the same text, or computed."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.extraction.pharaoh import SEPARATOR, check_format
from phrasebeam.decoder.tables.model_files import ALIGNMENT
from phrasebeam.training.bitext.parallel_text import Bitext
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.word_alignment.alignment import align
from phrasebeam.training.word_alignment.alignment_points import Alignments, read_pharaoh
from phrasebeam.training.word_alignment.alignment_settings import AlignmentConfig

CLEANED_ALIGNMENT = "a word alignment needs unchanged text; leave out --clean, or leave out the alignment"
RAW_ALIGNMENT = "a word alignment counts tokens, and raw text has none yet; tokenize first, or leave out one of the two"


class KeptAlignments(NamedTuple):
    """Word alignments that a model of the same bitext keeps, so that they need not be computed again."""

    model: Path
    settings: list[AlignmentConfig]  # of the last ones of its file; those before were given


def kept_alignments(model: Path, config: TrainModelConfig, is_given: bool) -> KeptAlignments:
    """Word alignments of `model`, which was made with `config`; `is_given`: with one from a file."""
    return KeptAlignments(model, [*([] if is_given else [config.alignment]), *config.more_alignments])


def word_alignments(
    bitext: Bitext, config: TrainModelConfig, path: str | Path | None, kept: Sequence[KeptAlignments] = ()
) -> list[Alignments]:
    """Read the file `path`, or align by config.alignment; then by config.more_alignments. Raises SmtError."""
    given: list[Alignments] = []
    if path is not None:
        with stage("reading word alignments"):
            given = read_pharaoh(path, bitext.source, bitext.target)
    wanted = [*([] if given else [config.alignment]), *config.more_alignments]
    return given + [
        _kept(bitext, one, kept) or align(bitext.source, bitext.target, one, config.threads) for one in wanted
    ]


def _kept(bitext: Bitext, wanted: AlignmentConfig, kept: Sequence[KeptAlignments]) -> Alignments | None:
    """The alignment of these settings, if one of the models keeps it."""
    for one in kept:
        if wanted in one.settings:
            with stage("reading word alignments"):
                found = read_pharaoh(one.model / ALIGNMENT, bitext.source, bitext.target)
            return found[one.settings.index(wanted) - len(one.settings)]
    return None


def check_alignments(config: TrainModelConfig, path: str | Path | None) -> None:
    """Raise ConfigError if more word alignments have to agree than there are, with those of the file `path`.

    Raises it, too, if the text is raw, or to be cleaned, and there is such a file; and FormatError if that is
    not of alignments, as far as its first line tells.
    """
    if path is not None and (config.preprocessing or config.is_cleaned):
        raise ConfigError(f"{path}: {RAW_ALIGNMENT if config.preprocessing else CLEANED_ALIGNMENT}")
    given = 1 if path is None else len(_first_alignments(path))
    found = given + len(config.more_alignments)
    if config.phrases.agreement > found:
        message = f"phrases.agreement: {config.phrases.agreement}, and there are {found} word alignments"
        raise ConfigError(f"{message}; expected no more, or give more_alignments")


def _first_alignments(path: str | Path) -> list[str]:
    alignments = next(iter(read_lines(path)), "").split(SEPARATOR)
    for one in alignments:
        check_format(one, path, 1)
    return alignments
