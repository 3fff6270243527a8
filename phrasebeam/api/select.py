"""select: the sentence pairs of a bitext that resemble in-domain text."""

from pathlib import Path
from typing import Annotated, TypedDict, Unpack

from phrasebeam.api.arguments import Config, File, Files, SourceLanguage, optional_path, paths
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs, read_lines
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.decoder.input.raw_text_settings import TOKENIZER_OF_LANGUAGE, RawTextSettings, TokenizerName
from phrasebeam.lm.text.corpus import Words, split
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.selection.select_sentences import SelectionFiles, SelectionResult, select_sentences


class SelectOptions(TypedDict, total=False):
    """How many sentence pairs are selected, and where they and the log are written."""

    alignment: Annotated[File | None, "Word alignment of the bitext, line by line."]
    output_alignment: Annotated[File | None, "Output file for the word alignment of the selected pairs."]
    sentences: int | None
    words: int | None
    order: int | None
    in_order: Annotated[bool, "Write the pairs in the order of the bitext, not the best first."]
    log: Annotated[
        File | None,
        "Output file for line number, score and number of source words of each selected pair; the best first.",
    ]
    raw: Annotated[bool, "The text is raw: count n-grams of tokens, and write lines unchanged."]
    source_language: SourceLanguage
    source_tokenizer: Annotated[TokenizerName | None, Option(section=RawTextSettings, unset=TOKENIZER_OF_LANGUAGE)]
    config: Config


@described(SelectionConfig)
def select(
    source: Annotated[File, "Source side of the bitext, tokenized or `raw`, one sentence per line."],
    target: Annotated[File, "Target side of the bitext, line by line."],
    in_domain: Annotated[
        Files, "Source text that resembles the text to translate, tokenized or `raw`; one or more files."
    ],
    output_source: Annotated[File, "Output file for the selected source sentences."],
    output_target: Annotated[File, "Output file for their translations."],
    **options: Unpack[SelectOptions],
) -> SelectionResult:
    """Select the training sentences that resemble in-domain text, by feature decay (Biçici & Yuret 2011).

    The best pairs come first, so that the first lines are the selection for a smaller budget.

    Returns the shares of in-domain n-grams that the selection covers, and a random selection. Raises SmtError or
    OSError.

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
    files = SelectionFiles(written, log, options["in_order"])
    return select_sentences(bitext, paths(in_domain), files, settings, _words(bitext.source, options))


def _words(text: Path, options: SelectOptions) -> Words:
    """The function that splits a line into words: at spaces, or with the tokenizer if text is raw."""
    language, name = options["source_language"], options["source_tokenizer"]
    if not options["raw"]:
        if language or name:
            raise ConfigError("a language and a tokenizer are for raw text; give --raw, too")
        return split
    if language is None:
        raise ConfigError("raw text needs its language; give --source-language (de, en ...)")
    from phrasebeam.decoder.tokenizers.registry import tokenizer  # slow: it compiles patterns of Unicode's tables

    return tokenizer(language, name, read_lines(text)).tokens
