"""The command `rerank`: weights from n-best lists, and the best translations of lists."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.rerank import rerank
from phrasebeam.base.command_line import Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.process.hints import hint
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.tuning.methods.registry import Method


def rerank_command(
    weights: Annotated[
        Path, typer.Option(help="Weights, lines of 'name= weight ...'; with --train written, not read.")
    ],
    nbest: Annotated[Path | None, typer.Option(help="N-best lists whose best translations are printed.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="File for these translations.", show_default="standard output")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="N-best lists, in Moses' format, to learn the weights from.")
    ] = None,
    reference: Annotated[list[Path] | None, typer.Option(help="Translations for --train, one file a set.")] = None,
    method: Annotated[Method | None, typer.Option(help="How they are learned.", show_default="mira-corpus")] = None,
    config: Annotated[Path | None, config_option("tune")] = None,
    start_weights: Annotated[
        Path | None,
        typer.Option(help="Weights that --train begins with.", show_default="those that the scores come from"),
    ] = None,
    metric: Annotated[MetricName | None, typer.Option(help="What is optimized.", show_default="bleu")] = None,
    seed: Annotated[int | None, typer.Option(help="Of what is drawn.", show_default="1")] = None,
    c: Annotated[float | None, typer.Option("--c", help="Of MIRA: the largest step.")] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    require_gain: shared.RequireGainOnLists = False,
) -> int:
    """Learn weights for given n-best lists with any features, and print the best translations of lists by them."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    learned, translations = rerank(**given)
    for text in translations:
        print(text)
    if learned is None or learned.is_better:
        return 0
    before = "begun with" if start_weights else "that their scores come from"
    scores = f"{learned.score:.2f} on these lists, {learned.before:.2f} by the weights {before}"
    hint(f"nothing gained: {scores}")
    return shared.NO_GAIN if require_gain else 0
