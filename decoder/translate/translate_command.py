"""The command `translate`."""

import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from phrasebeam.base.command_line import Memory, config_option
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs, read_input, read_lines
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.console.input_stage import input_name, stage_of_input
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles
from phrasebeam.decoder.input.input_settings import InputFormat, Markup, Oov
from phrasebeam.decoder.input.sentence_input import LeaveOneOut, Prefix
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.output.lattice_rendering import LatticeFormat
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.outputs import write_outputs
from phrasebeam.decoder.translate.pipeline import LineSettings, translate_lines
from phrasebeam.decoder.translate.translate_settings import (
    Flags,
    TranslateSettings,
    overridden,
    translate_settings,
)
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.engine_options import Address, EngineOption, Workers, chosen_engine

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.raw_text import RawText

MOST_DERIVATIONS = 100_000  # of a sentence, which are in memory, some kB each
INPUT, OUTPUT, NBEST, MBR = "Input", "Output", "N-best lists", "Minimum Bayes risk"
LATTICE, SEARCH, TRAINING = "Lattices", "Search", "Training data as input"
ADAPTATION = "Learning from confirmed translations"


class Adaptation(NamedTuple):
    """Files of what is learned from."""

    confirmed: Path | None
    journal: Path | None


def _option(panel: str, help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=panel, **more)


def _flag(panel: str, name: str, help: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel=panel)


def translate(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentences translated at the same time.")] = 1,
    config: Annotated[Path | None, config_option("translate")] = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
    input: Annotated[
        Path | None, _option(INPUT, "File of the sentences, plain, .gz or .zst.", show_default="standard input")
    ] = None,
    output: Annotated[
        Path | None,
        _option(OUTPUT, "File for the translations, as named plain or compressed.", show_default="standard output"),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Raw text in and out, as the model was made.")] = False,
    alignment: Annotated[bool, _flag(OUTPUT, "--alignment", "Append the word alignment, 0-0 1-2.")] = False,
    segmentation: Annotated[
        bool, _flag(OUTPUT, "--segmentation", "Follow each phrase with the source words it translates, |3-4|.")
    ] = False,
    scores: Annotated[
        bool, _flag(OUTPUT, "--scores", "Append ' ||| ', the feature values, ' ||| ' and the model score.")
    ] = False,
    nbest: Annotated[
        int | None, _option(NBEST, "Derivations of each sentence in --nbest-output.", min=1, max=MOST_DERIVATIONS)
    ] = None,
    nbest_output: Annotated[
        Path | None,
        _option(NBEST, "File in Moses' format: 0 ||| text ||| features ||| score; -: instead of translations."),
    ] = None,
    distinct: Annotated[
        bool, _flag(NBEST, "--distinct", "Only the best derivation of each text in --nbest-output.")
    ] = False,
    moses_names: Annotated[
        bool, _flag(NBEST, "--moses-names", "Features are called as in Moses' n-best lists, in its order.")
    ] = False,
    mbr: Annotated[
        bool | None, _flag(MBR, "--mbr/--no-mbr", "Choose the translation with the largest expected BLEU.")
    ] = None,
    mbr_size: Annotated[int | None, _option(MBR, "Distinct translations compared.")] = None,
    mbr_scale: Annotated[float | None, _option(MBR, "Factor of model scores; small: all count alike.")] = None,
    lattice_output: Annotated[
        Path | None, _option(LATTICE, "File for what the search kept of each sentence; -: instead of translations.")
    ] = None,
    lattice_format: Annotated[
        LatticeFormat | None,
        _option(LATTICE, "osg (the default): Moses' search graph; dot: for Graphviz, what people can read of it."),
    ] = None,
    lattice_beam: Annotated[
        float | None, _option(LATTICE, "Keep derivations that score at most this much below the best.", min=0)
    ] = None,
    algorithm: Annotated[Algorithm | None, _option(SEARCH, "stack: try all; cube: cube pruning, faster.")] = None,
    pop_limit: Annotated[int | None, _option(SEARCH, "Hypotheses a stack that cube pruning tries; 0: all.")] = None,
    stack: Annotated[int | None, _option(SEARCH, "Hypotheses kept per number of covered words; 0: all.")] = None,
    beam_threshold: Annotated[
        float | None, _option(SEARCH, "Drop hypotheses worse than the best by this factor; 0: none.")
    ] = None,
    no_future_cost: Annotated[
        bool, _flag(SEARCH, "--no-future-cost", "Compare hypotheses of a stack by their scores alone.")
    ] = False,
    distortion_limit: Annotated[int | None, _option(SEARCH, "Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int | None, _option(SEARCH, "Target phrases per source phrase; 0: all.")] = None,
    input_format: Annotated[
        InputFormat | None,
        _option(INPUT, "text; confusion: columns 'word score word score ...', then a blank line; plf: lattices."),
    ] = None,
    input_weight: Annotated[
        float | None,
        _option(INPUT, "Weight of the ln probability of a lattice's words, in place of the model's input_score."),
    ] = None,
    markup: Annotated[
        Markup | None,
        _option(INPUT, "Read <x translation=...>, <wall/> and <zone> in the input; how translations in it count."),
    ] = None,
    prefix: Annotated[
        Path | None, _option(INPUT, "File of what translations must begin with, a tokenized line for each sentence.")
    ] = None,
    partial_word: Annotated[
        bool, _flag(INPUT, "--partial-word", "The last word of a prefix may be unfinished, unless space follows it.")
    ] = False,
    leave_one_out: Annotated[
        LeaveOneOut | None,
        _option(TRAINING, "Without the counts of the sentence pair (drop, penalty), or without all pairs of count 1."),
    ] = None,
    reference: Annotated[Path | None, _option(TRAINING, "File of the sentences' translations.")] = None,
    word_alignment: Annotated[
        Path | None, _option(TRAINING, "File of their word alignments, 0-0 1-2, that the model was made of.")
    ] = None,
    adapt: Annotated[
        Path | None,
        _option(ADAPTATION, "File of confirmed translations: each is learned before the next line is translated."),
    ] = None,
    adapt_journal: Annotated[
        Path | None,
        _option(ADAPTATION, "File that keeps what is learned, of this and earlier runs; alone: only use what it has."),
    ] = None,
    oov: Annotated[Oov | None, _option(INPUT, "Unknown words: copy, drop if without digits, mark as UNK...")] = None,
) -> None:
    """Translate standard input or a file, a sentence a line, tokenized as the training data were."""
    _refuse(
        {
            "--nbest and --nbest-output need each other, --distinct needs both; give them together": (
                (nbest is None) != (nbest_output is None) or (distinct and nbest is None)
            ),
            "--moses-names needs --nbest or --scores; give one": moses_names and nbest is None and not scores,
            "--lattice-format and --lattice-beam need --lattice-output; give it as well": (
                lattice_output is None and (lattice_format is not None or lattice_beam is not None)
            ),
            f"--input-weight {input_weight}: expected a finite number": not math.isfinite(input_weight or 0.0),
            "--partial-word needs --prefix; give it as well": partial_word and prefix is None,
            "--leave-one-out, --reference and --word-alignment need each other; give all three": (
                len({leave_one_out is None, reference is None, word_alignment is None}) > 1
            ),
        }
    )
    read = [input, prefix, reference, word_alignment, config, adapt, adapt_journal, *model_paths(model)]
    check_keeps_inputs([output, nbest_output, lattice_output], read)
    adaptation = _adaptation(Adaptation(adapt, adapt_journal), threads, engine, leave_one_out)
    _check_raw(raw, alignment or segmentation or scores, prefix, leave_one_out)
    search = {"algorithm": algorithm, "pop_limit": pop_limit, "stack": stack, "beam_threshold": beam_threshold}
    search |= {"distortion_limit": distortion_limit, "table_limit": table_limit}
    search |= {"future_cost": False if no_future_cost else None}
    settings = _settings(
        translate_settings(model, config), memory, search, {"format": input_format, "markup": markup, "oov": oov}
    )
    risk, beam = _mbr(settings.mbr, mbr, mbr_size, mbr_scale), math.inf if lattice_beam is None else lattice_beam
    n = nbest or (1 if moses_names else None)  # which brings the sparse features of the translation
    request = Request(n, distinct, risk, lattice_output is not None, "names" if n else "", beam)
    keep_memory(settings.memory)
    line_settings = LineSettings(
        _raw_text(model, raw), alignment, segmentation, scores, moses_names, lattice_format or "osg", input_name(input)
    )
    prefixes = (Prefix.read(line, partial_word) for line in read_lines(prefix)) if prefix else None
    files = TrainingFiles(reference, word_alignment, leave_one_out) if reference and leave_one_out else None
    decoder, work = _decoder(model, settings, input_weight, adaptation), stage_of_input("translating", input, output)
    with closing(decoder), chosen_engine(engine, address, workers), work as advance:
        lines = read_input(input)
        with closing(translate_lines(decoder, lines, request, line_settings, prefixes, files, threads, adapt)) as found:
            write_outputs(found, nbest_output, lattice_output, output, advance)


def _refuse(conflicts: dict[str, bool]) -> None:
    """Raise ConfigError with the first message whose condition holds."""
    for message, is_wrong in conflicts.items():
        if is_wrong:
            raise ConfigError(message)


def _check_raw(is_raw: bool, shows_tokens: bool, prefix: Path | None, leave_one_out: LeaveOneOut | None) -> None:
    """Raise ConfigError where options of tokens are given beside --raw."""
    if not is_raw:
        return
    _refuse(
        {
            "--alignment, --segmentation and --scores are of tokens; leave out --raw, or leave out them": shows_tokens,
            "--prefix reads tokenized lines; leave out --raw, or leave out --prefix": prefix is not None,
            "--leave-one-out needs tokens; leave out --raw, or leave out --leave-one-out": leave_one_out is not None,
        }
    )


def _adaptation(adaptation: Adaptation, threads: int, engine: str, leave_one_out: LeaveOneOut | None) -> Adaptation:
    """The files of --adapt and --adapt-journal. Raises ConfigError where there are options that these cannot have."""
    is_training = any(adaptation) and leave_one_out is not None
    is_elsewhere = any(adaptation) and engine != "local"
    _refuse(
        {
            "--adapt translates one line after the other; leave out --threads": bool(adaptation.confirmed)
            and threads > 1,
            "--adapt and --adapt-journal learn in this process; leave out --engine": is_elsewhere,
            "--leave-one-out is of training data; leave out --adapt and --adapt-journal": is_training,
        }
    )
    return adaptation


def _decoder(model: Path, settings: TranslateSettings, input_weight: float | None, adaptation: Adaptation) -> Decoder:
    given = model, settings.search, settings.weights, settings.input
    if any(adaptation):
        decoder: Decoder = AdaptedDecoder.load(*given, settings.adaptation, adaptation.journal)
    else:
        decoder = Decoder.load(*given)
    if input_weight is not None:
        weights = settings.weights or decoder.model.weights
        decoder.reweigh(overridden(weights, {"input_score": input_weight}, "--input-weight"))
    return decoder


def _settings(settings: TranslateSettings, memory: str | None, search: Flags, reading: Flags) -> TranslateSettings:
    """The settings of the model and the file, overridden by what flags give."""
    settings = overridden(settings, {"memory": memory}, "options")
    sections = {
        "search": overridden(settings.search, search, "search options"),
        "input": overridden(settings.input, reading, "options of the input"),
    }
    return settings.model_copy(update=sections)


def _mbr(section: MbrSettings | None, is_on: bool | None, size: int | None, scale: float | None) -> MbrSettings | None:
    if is_on is False or (section is None and not is_on):
        if size is not None or scale is not None:
            raise ConfigError(
                "--mbr-size and --mbr-scale need --mbr, or the section 'mbr' in --config or the model; give one"
            )
        return None
    return overridden(section or MbrSettings(), {"size": size, "scale": scale}, "options of --mbr")


def _raw_text(model: Path, is_given: bool) -> "RawText | None":
    if not is_given:
        return None
    # Slow: it compiles the tables of Unicode that sacremoses needs.
    from phrasebeam.decoder.raw_text.raw_text import RawText

    return RawText.load(model)
