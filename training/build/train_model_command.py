"""The command `train-model`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.train_model import train_model as build
from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.engine.engine_options import Address, EngineOption, Workers

Threads = Annotated[int | None, typer.Option(help="Processor cores to use; the model does not depend on it.")]


def train_model(
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized or --raw, one a line (or .gz, .zst).")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    output: Annotated[Path, typer.Option(help="Directory of the model.")],
    config: Annotated[Path | None, config_option("default")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="The text is raw: tokenize and truecase it; translate --raw does the same.")
    ] = False,
    source_language: Annotated[str | None, typer.Option(help="Of raw text: de, en, fr ...")] = None,
    target_language: Annotated[str | None, typer.Option(help="Of raw text.")] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="A word alignment (0-0 1-2 ...), or several set apart by |||, to use as it is.")
    ] = None,
    lm_text: Annotated[
        list[str] | None, typer.Option(help="Target-language text for a further language model; repeatable.")
    ] = None,
    lm_classes: Annotated[
        list[str] | None,
        typer.Option(help="Word classes for a further language model over these, as cluster writes them; repeatable."),
    ] = None,
    threads: Threads = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
    force: Force = False,
) -> None:
    """Build a model from parallel text: word alignment, phrase table, reordering model, language model."""
    given = locals()  # the options, which are arguments of the function
    start = time.perf_counter()
    show_progress()
    description = build(**given)
    seconds = time.perf_counter() - start
    print(f"{output}: model of {description.sentence_pairs} sentence pairs, made in {seconds:.1f} s")
