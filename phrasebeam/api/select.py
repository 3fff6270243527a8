"""select: the sentence pairs of a bitext that resemble in-domain text."""

from pathlib import Path
from typing import Annotated, TypedDict, Unpack

from phrasebeam.api.arguments import Config, File, Files, optional_path, paths
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.options import described, settings_of
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.selection.select_sentences import SelectionFiles, SelectionResult, select_sentences


class SelectOptions(TypedDict, total=False):
    """How many sentence pairs are selected, and where they and the log are written."""

    alignment: Annotated[File | None, "Word alignment of the bitext, line by line."]
    output_alignment: Annotated[File | None, "File of the alignment of what is selected."]
    sentences: int | None
    words: int | None
    order: int | None
    in_order: Annotated[bool, "Lines as in the bitext, not the best first."]
    log: Annotated[File | None, "File of line number, score, source words; the best first."]
    config: Config


@described(SelectionConfig)
def select(
    source: Annotated[File, "Source side of the bitext, tokenized, one sentence a line."],
    target: Annotated[File, "Target side of the bitext, line by line."],
    in_domain: Annotated[Files, "Source text like what is to be translated, tokenized; one file or several."],
    output_source: Annotated[File, "File of the selected source sentences."],
    output_target: Annotated[File, "File of their translations."],
    **options: Unpack[SelectOptions],
) -> SelectionResult:
    """Select the training sentences that resemble in-domain text, by feature decay (Biçici & Yuret 2011).

    The best come first, so that the first lines are the selection of a smaller budget.

    Returns what the selection covers of the in-domain n-grams, and what others do. Raises SmtError or OSError.

    >>> result = select("train.de", "train.en", "dev.de", "few.de", "few.en", sentences=100)
    >>> result.selected.n_sentences
    100
    """
    alignment, output_alignment = optional_path(options["alignment"]), optional_path(options["output_alignment"])
    if (alignment is None) != (output_alignment is None):
        raise ConfigError("--alignment and --output-alignment need each other; give both")
    settings, log = settings_of(select, SelectionConfig, options), optional_path(options["log"])
    written = BitextFiles(Path(output_source), [Path(output_target)], optional_path(output_alignment))
    bitext = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    check_keeps_inputs([*written.parallel, log], [*bitext.parallel, *paths(in_domain)])
    return select_sentences(bitext, paths(in_domain), SelectionFiles(written, log, options["in_order"]), settings)
