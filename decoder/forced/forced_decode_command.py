"""The command `forced-decode`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api import forced_decode as forcing
from phrasebeam.base.command_line import Memory, config_option
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import print_table
from phrasebeam.decoder.forced.forced_settings import Prefixes
from phrasebeam.decoder.input.sentence_input import Input, LeaveOneOut
from phrasebeam.engine.engine_options import Address, EngineOption, Workers

Pair = tuple[Input, tuple[str, ...]]  # sentence and reference


def forced_decode(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized, one a line (or .gz, .zst).")],
    reference: Annotated[Path, typer.Option(help="Their translations, line by line, which must be produced.")],
    output: Annotated[Path, typer.Option(help="File for what is found, a JSON object for each sentence pair.")],
    alignment: Annotated[Path | None, typer.Option(help="Word alignment (0-0 1-2 ...) of training sentences.")] = None,
    leave_one_out: Annotated[
        LeaveOneOut | None,
        typer.Option(help="Without the counts of the pair itself (drop, penalty), or without all pairs of count 1."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a plot of what is reachable (.png, .pdf, .svg).")] = None,
    lattice: Annotated[Path | None, typer.Option(help="File for the lattices, as Moses' search graphs.")] = None,
    prefixes: Annotated[
        Prefixes | None,
        typer.Option(help="Where the whole is not reachable: the longest prefix pair, or closed by the alignment."),
    ] = None,
    least_prefix: Annotated[int | None, typer.Option(help="Source words of the shortest prefix pair.")] = None,
    max_states: Annotated[int | None, typer.Option(help="States of a pair that is not too large.")] = None,
    aligned: Annotated[bool, typer.Option("--aligned", help="Only phrase pairs that fit the word alignment.")] = False,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int, typer.Option(help="Target phrases per source phrase; 0: all.")] = 0,
    config: Annotated[Path | None, config_option("translate")] = None,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentence pairs decoded at the same time.")] = 1,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Find the derivations that yield the references: exact forced decoding. Prints how many there are, by length."""
    given = locals()  # the options, which are arguments of the function
    show_progress()
    reached = forcing.forced_decode(**given)
    print_table(reached.table(), reached.text())
