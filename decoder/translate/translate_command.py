"""The command `translate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from phrasebeam.api import translate as translating
from phrasebeam.api.translate_options import MOST_DERIVATIONS
from phrasebeam.base.command_line import Memory, config_option
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.console.input_stage import show_input_progress
from phrasebeam.decoder.input.input_settings import InputFormat, Markup, Oov
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.decoder.output.lattice_rendering import LatticeFormat
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.decoder.translate.outputs import STANDARD_OUTPUT
from phrasebeam.engine.engine_options import Address, EngineOption, Workers

INPUT, OUTPUT, NBEST, MBR = "Input", "Output", "N-best lists", "Minimum Bayes risk"
LATTICE, SEARCH, TRAINING = "Lattices", "Search", "Training data as input"
ADAPTATION = "Learning from confirmed translations"


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
    given = locals()  # the options, which are arguments of the function
    given["output"] = output or STANDARD_OUTPUT
    show_input_progress(input, given["output"])
    translating.translate(**given)
