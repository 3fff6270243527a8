"""select: the sentence pairs of a bitext that resemble in-domain text."""

from pathlib import Path

from phrasebeam.api.arguments import File, Files, Settings, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import config_with_options
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.selection.select_sentences import SelectionFiles, SelectionResult, select_sentences


@checked
def select(
    source: File,
    target: File,
    in_domain: Files,
    output_source: File,
    output_target: File,
    *,
    alignment: File | None = None,
    output_alignment: File | None = None,
    sentences: int | None = None,
    words: int | None = None,
    order: int | None = None,
    in_order: bool = False,
    log: File | None = None,
    config: Settings | None = None,
) -> SelectionResult:
    """Select the training sentences that resemble in-domain text, by feature decay (Biçici & Yuret 2011).

    The best come first, so that the first lines are the selection of a smaller budget.

    Args:
        source: Source side of the bitext, tokenized, one sentence a line.
        target: Its target side, line by line.
        in_domain: Source text like what is to be translated, tokenized; one file or several.
        output_source: File of the selected source sentences.
        output_target: File of their translations.
        alignment: Word alignment of the bitext, line by line.
        output_alignment: File of the alignment of what is selected.
        sentences: How many to select; either this or `words`.
        words: Select until there are so many source words.
        order: Words of the longest n-grams.
        in_order: Lines as in the bitext, not the best first.
        log: File of line number, score, source words; the best first.
        config: Settings, see SelectionConfig.

    Returns what the selection covers of the in-domain n-grams, and what others do. Raises SmtError or OSError.

    >>> result = select("train.de", "train.en", "dev.de", "few.de", "few.en", sentences=100)
    >>> result.selected.n_sentences
    100
    """
    if (alignment is None) != (output_alignment is None):
        raise ConfigError("--alignment and --output-alignment need each other; give both")
    settings = config_with_options(config, SelectionConfig, {"sentences": sentences, "words": words, "order": order})
    written = BitextFiles(Path(output_source), [Path(output_target)], optional_path(output_alignment))
    bitext = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    check_keeps_inputs([*written.parallel, log], [*bitext.parallel, *paths(in_domain)])
    return select_sentences(bitext, paths(in_domain), SelectionFiles(written, optional_path(log), in_order), settings)
