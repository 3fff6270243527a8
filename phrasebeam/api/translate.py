"""translate: translation of the sentences of a file."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from phrasebeam.api.arguments import OF_MODEL, AtOnce, Model, optional_path, paths, resources
from phrasebeam.api.translate_options import (
    TrainingInputOptions,
    TranslateOptions,
    check_arguments,
    check_paragraphs,
    is_adapted,
    is_document,
    of_tokens,
    refused_by_normalizers,
    translate_settings_of,
)
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs, output_file, read_input, read_lines
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import described, settings_given
from phrasebeam.base.progress import log, stage
from phrasebeam.console.input_stage import input_name, stage_of_input
from phrasebeam.decoder.documents.document import Document
from phrasebeam.decoder.documents.file_formats import named_format
from phrasebeam.decoder.documents.open_document import open_document
from phrasebeam.decoder.documents.paragraphs import translate_paragraphs
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.documents.term_base import TermBase, read_terms
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision
from phrasebeam.decoder.marked_text.tokenization import Tokenization, is_of_raw_text
from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.normalization.directory import NORMALIZER, is_normalizer
from phrasebeam.decoder.output.request import Request, SparseDetail
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.outputs import STANDARD_OUTPUT, write_outputs
from phrasebeam.decoder.translate.pipeline import LineOutput, LineSettings, translate_lines
from phrasebeam.decoder.translate.text_translation import translate_texts
from phrasebeam.decoder.translate.translate_settings import TranslateSettings, overridden
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.decoder.translation_memory.memory_files import MemoryFile, read_memory

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText


@described(TranslateSettings, unset=OF_MODEL)
def translate(model: Model, *, threads: AtOnce = 1, **options: Unpack[TranslateOptions]) -> list[str]:
    """Translate the sentences of a file, raw or tokenized as the training data were.

    Use Decoder for sentences instead of files, and translate_lines for lines.

    Returns the translations, one per line, unless they were written to a file. Raises SmtError or OSError.

    >>> translate("model", input="dev.de")[:1] == [Decoder.load("model").translate(next(open("dev.de"))).text]
    True
    """
    if is_normalizer(model):
        return _normalized(Path(model), options, threads)
    check_arguments(Path(model), threads, options)
    source = optional_path(options["input"])
    given = settings_given(translate, TranslateSettings, {"model": model, "threads": threads, **options})
    settings = translate_settings_of(Path(model), options, given)
    if is_document(source) and (option := of_tokens(options)):
        raise ConfigError(f"{option} works only for lines of text; leave it out for documents")
    with resources(settings.memory, options, options["workers"]):
        raw_text = _raw_text(Path(model), options, settings)
        check_paragraphs(options, raw_text is not None)
        is_text = raw_text is not None and not of_tokens(options)
        translated = _segments if is_document(source) or is_text else _lines
        return translated(Path(model), options, settings, raw_text, threads)


def _normalized(model: Path, options: TranslateOptions, threads: int) -> list[str]:
    """The normalized forms of words, line by line; an empty list if they are written to a file."""
    # Imported here: translations do not need these imports
    from phrasebeam.decoder.normalization.normalizer import Normalizer
    from phrasebeam.decoder.normalization.normalizer_files import OWN_FILES
    from phrasebeam.decoder.normalization.word_text import WordText

    if option := refused_by_normalizers(options):
        raise ConfigError(f"{option} has no effect on a normalizer; leave it out")
    source, destination, texts = optional_path(options["input"]), optional_path(options["output"]), list[str]()
    files = [model / name for name in (NORMALIZER, *OWN_FILES)]
    check_keeps_inputs([destination], [source, *files])
    with resources(memory_option(options["memory"]), options, options["workers"]):
        normalizer, text = Normalizer.load(model), WordText.of(list(read_input(source)))
        forms = normalizer.normalize_all(text.sentences, threads)
        outputs = (LineOutput(f"{line}\n", "", "") for line in text.lines(forms, options["confidence"]))
        with stage_of_input("writing", source, destination) as advance:
            write_outputs(outputs, None, None, texts if destination is None else destination, advance)
    return texts


def _lines(
    model: Path, options: TranslateOptions, settings: TranslateSettings, raw_text: "RawText | None", threads: int
) -> list[str]:
    """Translate lines as sentences; return the translations, or an empty list if they are written to a file."""
    source, destination, texts = optional_path(options["input"]), optional_path(options["output"]), list[str]()
    request = _request(options, settings)
    line_settings = _line_settings(options, raw_text, _terms(model, options))
    decoder, work = _decoder(model, options, settings, raw_text), stage_of_input("translating", source, destination)
    with closing(decoder), work as advance:
        adapt, files = optional_path(options["adapt"]), _training_files(options)
        pipeline = translate_lines(
            decoder,
            read_input(source),
            request,
            line_settings,
            _prefixes(options, line_settings),
            files,
            threads,
            adapt,
        )
        nbest, lattice = optional_path(options["nbest_output"]), optional_path(options["lattice_output"])
        translations = texts if destination is None else None if destination == STANDARD_OUTPUT else destination
        with closing(pipeline) as outputs:
            write_outputs(outputs, nbest, lattice, translations, advance)
    return texts


def _line_settings(options: TranslateOptions, raw_text: "RawText | None", terms: TermBase | None) -> LineSettings:
    return LineSettings(
        raw_text,
        options["alignment"],
        options["segmentation"],
        options["scores"],
        options["moses_names"],
        options["lattice_format"] or "osg",
        source_name=input_name(optional_path(options["input"])),
        terms=terms,
    )


def _prefixes(options: TranslateOptions, settings: LineSettings) -> Iterator[Prefix] | None:
    tokenization, path = Tokenization.of(settings.raw_text), options["prefix"]
    return (tokenization.prefix(line, options["partial_word"]) for line in read_lines(path)) if path else None


def _request(options: TranslateOptions, settings: TranslateSettings) -> Request:
    """The request for each sentence. The best translation has sparse features if it is in a list, if only of one."""
    sparse = options["sparse_features"]
    n = options["nbest"] or (1 if sparse else None)
    beam = math.inf if options["lattice_beam"] is None else options["lattice_beam"]
    wants_lattice = options["lattice_output"] is not None
    confidence = settings.confidence if options["confidence"] else None
    detail: SparseDetail = "names" if sparse else ""
    return Request(n, options["distinct"], settings.mbr, wants_lattice, detail, beam, confidence)


def _training_files(options: TrainingInputOptions) -> TrainingFiles | None:
    reference, alignment, mode = options["reference"], options["word_alignment"], options["leave_one_out"]
    return TrainingFiles(Path(reference), Path(alignment), mode) if reference and alignment and mode else None


def _decoder(
    model: Path, options: TranslateOptions, settings: TranslateSettings, raw_text: "RawText | None"
) -> Decoder:
    journal, input_weight = options["adapt_journal"], options["input_weight"]
    how = settings.search, settings.weights, settings.input
    if is_adapted(options):
        decoder: Decoder = AdaptedDecoder.load(
            model, *how, settings.adaptation, journal, _memories(model, options, raw_text)
        )
    else:
        decoder = Decoder.load(model, *how)
    if input_weight is not None:
        weights = settings.weights or decoder.model.weights
        decoder.reweigh(overridden(weights, {"input_score": input_weight}, "--input-weight"))
    return decoder


def _segments(
    model: Path, options: TranslateOptions, settings: TranslateSettings, raw_text: "RawText | None", threads: int
) -> list[str]:
    """Translate a document, or raw lines; return the translations, or an empty list if they are written to a file."""
    source, destination, texts = optional_path(options["input"]), optional_path(options["output"]), list[str]()
    document = _document(model, source, options) if is_document(source) else None
    terms, decoder = _terms(model, options), _decoder(model, options, settings, raw_text)
    decoder.request = Request(mbr=settings.mbr)
    with closing(decoder):
        translate_all = partial(translate_texts, decoder, raw_text=raw_text, terms=terms, threads=threads)
        if document is None:
            lines = read_input(source)
            if raw_text is not None and options["paragraphs"]:
                translated = translate_paragraphs(lines, SentenceDivision.of(raw_text.settings), translate_all)
            else:
                translated = translate_all(lines)
            outputs = (LineOutput(f"{text}\n", "", "") for text in translated)
            with stage_of_input("translating", source, destination) as advance:
                write_outputs(outputs, None, None, texts if destination is None else destination, advance)
        else:
            texts = _filled(document, translate_all, destination)
    return texts


def _document(model: Path, path: Path | None, options: TranslateOptions) -> Document:
    """The document in a file; by default its languages are the model's."""
    known, columns = open_description(model).text_languages, (options["source_column"], options["target_column"])
    if known and named_format(str(path)) != "tsv":
        columns = columns[0] or known.source_language, columns[1] or known.target_language
    return open_document(str(path), *columns)


def _filled(
    document: Document, translate_all: Callable[[Sequence[DocumentSegment]], Iterable[str]], destination: Path | None
) -> list[str]:
    """Translate the segments of a document and write it; without a destination, return their translations."""
    texts, n_segments = list[str](), len(document.segments)
    with stage("translating", n_segments, "segments") as advance, ExitStack() as stack:
        file = stack.enter_context(output_file(destination)) if destination else None
        for text in translate_all(document.segments):
            texts.append(text)
            advance(1)
        if file is None:
            return texts
        document.fill(texts)
        file.write(document.content())
    log.info("%s: %d segments filled in, %d had a translation", destination, n_segments, document.n_translated)
    return []


def _memories(model: Path, options: TranslateOptions, raw_text: "RawText | None") -> list[MemoryFile]:
    """The given translation memories, in the languages of the model, or else in those that the options name."""
    known = open_description(model).text_languages
    languages = str(options["source_column"] or ""), str(options["target_column"] or "")
    if known:
        languages = known.source_language, known.target_language
    with stage("reading translation memories") as advance:
        found = list[MemoryFile]()
        for path in paths(options["tm"]):
            found.append(read_memory(path, *languages, Tokenization.of(raw_text)))
            advance(1)
    return found


def _terms(model: Path, options: TranslateOptions) -> TermBase | None:
    """The given term base, or None; if the term base has several languages, in those of the model."""
    path = optional_path(options["terms"])
    if path is None:
        return None
    known = open_description(model).text_languages if named_format(path) == "tbx" else None
    return read_terms(path, *(known.source_language, known.target_language) if known else ())


def _raw_text(model: Path, options: TranslateOptions, settings: TranslateSettings) -> "RawText | None":
    """The model's preprocessing if text is raw, else None; lattices always have tokens."""
    is_raw = options["raw"]
    if is_raw is None:
        is_raw = settings.input.format == "text" and is_of_raw_text(model)
    if not is_raw:
        return None
    # Imported here since it is slow: it compiles patterns of Unicode's tables.
    from phrasebeam.decoder.raw_text.preprocessing import RawText

    return RawText.load(model)
