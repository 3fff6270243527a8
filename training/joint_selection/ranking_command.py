"""The command `train-ranking`: options, progress and the table of epochs."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.train_ranking import train_ranking
from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.engine_options import Address, EngineOption
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.common.iterations import iteration_table
from phrasebeam.training.online.progress import OnlineProgress
from phrasebeam.training.ranking.list_iteration import ListIteration


def train_ranking_command(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: shared.Source,
    target: shared.Target,
    dev_source: Annotated[Path, typer.Option(help="Other sentences, whose score says which epoch is best.")],
    dev_reference: shared.DevReference,
    output: shared.Output,
    alignment: shared.Alignment = None,
    config: Annotated[Path | None, config_option("simianer2012-joint-selection")] = None,
    algorithm: Annotated[
        int | None,
        typer.Option(
            min=1, max=4, help="Of Simianer et al. (2012): 1: one shard; 4 selects features jointly.", show_default="1"
        ),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(help="Parts of the data; 0: of 1000 sentences each.", show_default="0")
    ] = None,
    keep: Annotated[int | None, typer.Option(help="Features that algorithm 4 keeps.", show_default="100000")] = None,
    workers: Annotated[int | None, typer.Option(help="Shards at a time; results do not depend on it.")] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(help="A label for each pair, say its domain: a shard for each, and weights (task_weights: own)."),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Epochs, at most.", show_default="4")] = None,
    leave_one_out: Annotated[LeaveOneOut | None, typer.Option(help=shared.ONE_OUT, show_default="drop")] = None,
    lm_folds: shared.LmFolds = None,
    seed: Annotated[int | None, typer.Option(help="Of shards and orders.", show_default="1")] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    force: Force = False,
    require_gain: shared.RequireGain = False,
) -> int:
    """Learn dense and sparse weights on training data: pairwise ranking over shards, joint feature selection."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    progress, gain = train_ranking(**given)
    print_table(to_table(progress))
    return shared.status_of(gain, require_gain)


def to_table(progress: OnlineProgress[ListIteration]) -> Rows:
    """A row for each epoch, the best one marked."""
    rows = {}
    for number, iteration in enumerate(progress.iterations):
        known = iteration.example_score
        cells = [f"{iteration.score:.2f}", "" if known is None else f"{known:.2f}", f"{iteration.updates}"]
        rows[number] = [*cells, f"{iteration.features}", f"{iteration.speed:.1f}" if iteration.seconds else ""]
    return iteration_table(["score", "training", "updates", "features", "sentences/s"], rows, progress.best)
