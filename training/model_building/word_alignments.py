"""The word alignments of a model's bitext: given by the user, read from another model of the same text, or computed."""

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
    """Word alignments in the directory of a model of the same bitext, which need not be computed again."""

    model: Path
    settings: list[AlignmentConfig]  # of the last alignments in its file; earlier ones were given by the user


def kept_alignments(model: Path, config: TrainModelConfig, is_given: bool) -> KeptAlignments:
    """The word alignments of `model`, which was made with `config`; `is_given`: the first one was given as a file."""
    return KeptAlignments(model, [*([] if is_given else [config.alignment]), *config.more_alignments])


def word_alignments(
    bitext: Bitext, config: TrainModelConfig, path: str | Path | None, kept: Sequence[KeptAlignments] = ()
) -> list[Alignments]:
    """Read the alignments in the file `path`, or else align by config.alignment; then by config.more_alignments.

    Raises SmtError.
    """
    given: list[Alignments] = []
    if path is not None:
        with stage("reading word alignments"):
            given = read_pharaoh(path, bitext.source, bitext.target)
    wanted = [*([] if given else [config.alignment]), *config.more_alignments]
    return given + [
        _kept(bitext, one, kept) or align(bitext.source, bitext.target, one, config.threads) for one in wanted
    ]


def _kept(bitext: Bitext, wanted: AlignmentConfig, kept: Sequence[KeptAlignments]) -> Alignments | None:
    """The alignment with the settings `wanted`, if one of the models has it."""
    for one in kept:
        if wanted in one.settings:
            with stage("reading word alignments"):
                found = read_pharaoh(one.model / ALIGNMENT, bitext.source, bitext.target)
            return found[one.settings.index(wanted) - len(one.settings)]
    return None


def check_alignments(config: TrainModelConfig, path: str | Path | None) -> None:
    """Raise ConfigError if more word alignments must agree than there are, including those of the file `path`.

    Raises ConfigError also if there is such a file although the text is raw or will be cleaned, and FormatError if the
    first line of the file is not in its format.
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
