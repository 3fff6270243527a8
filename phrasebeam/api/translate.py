"""translate: the sentences of a file."""

import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from phrasebeam.api.arguments import File, Memory, Settings, memory_bound, optional_path
from phrasebeam.api.translate_options import check_arguments, is_adapted, translate_settings_of
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.files import read_input, read_lines
from phrasebeam.console.input_stage import input_name, stage_of_input
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles
from phrasebeam.decoder.input.input_settings import InputFormat, Markup, Oov
from phrasebeam.decoder.input.sentence_input import LeaveOneOut, Prefix
from phrasebeam.decoder.output.lattice_rendering import LatticeFormat
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.outputs import STANDARD_OUTPUT, write_outputs
from phrasebeam.decoder.translate.pipeline import LineSettings, translate_lines
from phrasebeam.decoder.translate.translate_settings import Flags, TranslateSettings, overridden
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText


@checked
def translate(
    model: File,
    *,
    threads: int = 1,
    config: Settings | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
    input: File | None = None,
    output: File | None = None,
    raw: bool = False,
    alignment: bool = False,
    segmentation: bool = False,
    scores: bool = False,
    nbest: int | None = None,
    nbest_output: File | None = None,
    distinct: bool = False,
    moses_names: bool = False,
    mbr: bool | None = None,
    mbr_size: int | None = None,
    mbr_scale: float | None = None,
    lattice_output: File | None = None,
    lattice_format: LatticeFormat | None = None,
    lattice_beam: float | None = None,
    algorithm: Algorithm | None = None,
    pop_limit: int | None = None,
    stack: int | None = None,
    beam_threshold: float | None = None,
    no_future_cost: bool = False,
    distortion_limit: int | None = None,
    table_limit: int | None = None,
    input_format: InputFormat | None = None,
    input_weight: float | None = None,
    markup: Markup | None = None,
    prefix: File | None = None,
    partial_word: bool = False,
    leave_one_out: LeaveOneOut | None = None,
    reference: File | None = None,
    word_alignment: File | None = None,
    adapt: File | None = None,
    adapt_journal: File | None = None,
    oov: Oov | None = None,
) -> list[str]:
    """Translate the sentences of a file, tokenized as the training data were.

    Decoder does so with sentences in place of files, translate_lines with lines.

    Args:
        model: Model directory, as train_model writes it.
        threads: Sentences translated at the same time.
        config: Settings with sections search, mbr, input, weights, adaptation; what is given beside it counts instead.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.
        input: File of the sentences, one a line, plain, .gz or .zst; None: standard input.
        output: File for the translations; None: they are returned; "-": standard output, unless n-best lists or
            lattices go there.
        raw: Raw text in and out, as the model was made.
        alignment: Append the word alignment, 0-0 1-2.
        segmentation: Follow each phrase with the source words it translates, |3-4|.
        scores: Append " ||| ", the feature values, " ||| " and the model score.
        nbest: Derivations of each sentence in `nbest_output`.
        nbest_output: File of n-best lists in Moses' format; "-": standard output.
        distinct: Only the best derivation of each text in `nbest_output`.
        moses_names: Features are called as in Moses' n-best lists, in its order.
        mbr: Choose the translation with the largest expected BLEU; None: as the model says.
        mbr_size: Distinct translations compared.
        mbr_scale: Factor of model scores; small: all count alike.
        lattice_output: File for what the search kept of each sentence; "-": standard output.
        lattice_format: "osg", Moses' search graph (the default), or "dot", for Graphviz.
        lattice_beam: Keep derivations that score at most this much below the best.
        algorithm: "stack": try all; "cube": cube pruning, faster; None: that of the model, as all that follows.
        pop_limit: Hypotheses a stack that cube pruning tries; 0: all.
        stack: Hypotheses kept per number of covered words; 0: all.
        beam_threshold: Drop hypotheses worse than the best by this factor; 0: none.
        no_future_cost: Compare hypotheses of a stack by their scores alone.
        distortion_limit: Longest jump, in words; -1: any.
        table_limit: Target phrases per source phrase; 0: all.
        input_format: "text", "confusion" or "plf", see the page of lattices.
        input_weight: Weight of the ln probability of a lattice's words, in place of the model's input_score.
        markup: Read <x translation=...>, <wall/> and <zone> in the input; how translations in it count.
        prefix: File of what translations must begin with, a tokenized line for each sentence.
        partial_word: The last word of a prefix may be unfinished, unless space follows it.
        leave_one_out: Without the counts of the sentence pair ("drop", "penalty"), or without all of count 1.
        reference: File of the sentences' translations, for `leave_one_out`.
        word_alignment: File of their word alignments, 0-0 1-2, that the model was made of.
        adapt: File of confirmed translations: each is learned before the next line is translated.
        adapt_journal: File that keeps what is learned, of this and earlier runs; alone: only use what it has.
        oov: Unknown words: "copy", "drop" if without digits, "mark" as UNK...

    Returns the translations, a line each, unless they went elsewhere. Raises SmtError or OSError.

    >>> translate("model", input="dev.de")[:1] == [Decoder.load("model").translate(next(open("dev.de"))).text]
    True
    """
    given = dict(locals())  # the arguments of the function, and nothing else
    check_arguments(given)
    source, destination, texts = optional_path(input), optional_path(output), list[str]()
    settings = translate_settings_of(given)
    request = _request(given, settings)
    with memory_bound(settings.memory):
        line_settings = LineSettings(
            _raw_text(Path(model)) if raw else None,
            alignment,
            segmentation,
            scores,
            moses_names,
            lattice_format or "osg",
            source_name=input_name(source),
        )
        prefixes = (Prefix.read(line, partial_word) for line in read_lines(prefix)) if prefix else None
        decoder, work = _decoder(given, settings), stage_of_input("translating", source, destination)
        with closing(decoder), chosen_engine(engine, address, workers), work as advance:
            lines, files = read_input(source), _training_files(given)
            pipeline = translate_lines(
                decoder, lines, request, line_settings, prefixes, files, threads, optional_path(adapt)
            )
            translations = texts if destination is None else None if destination == STANDARD_OUTPUT else destination
            with closing(pipeline) as outputs:
                write_outputs(
                    outputs, optional_path(nbest_output), optional_path(lattice_output), translations, advance
                )
    return texts


def _request(given: Flags, settings: TranslateSettings) -> Request:
    """What is wanted of each sentence; a name of Moses' needs the sparse features of a list of one."""
    n = given["nbest"] or (1 if given["moses_names"] else None)
    beam = math.inf if given["lattice_beam"] is None else given["lattice_beam"]
    wants_lattice = given["lattice_output"] is not None
    return Request(n, given["distinct"], settings.mbr, wants_lattice, "names" if n else "", beam)


def _training_files(given: Flags) -> TrainingFiles | None:
    if given["leave_one_out"] is None:
        return None
    return TrainingFiles(Path(given["reference"]), Path(given["word_alignment"]), given["leave_one_out"])


def _decoder(given: Flags, settings: TranslateSettings) -> Decoder:
    model, input_weight = Path(given["model"]), given["input_weight"]
    how = settings.search, settings.weights, settings.input
    if is_adapted(given):
        decoder: Decoder = AdaptedDecoder.load(model, *how, settings.adaptation, given["adapt_journal"])
    else:
        decoder = Decoder.load(model, *how)
    if input_weight is not None:
        weights = settings.weights or decoder.model.weights
        decoder.reweigh(overridden(weights, {"input_score": input_weight}, "--input-weight"))
    return decoder


def _raw_text(model: Path) -> "RawText":
    # Slow: it compiles the tables of Unicode that sacremoses needs.
    from phrasebeam.decoder.raw_text.preprocessing import RawText

    return RawText.load(model)
