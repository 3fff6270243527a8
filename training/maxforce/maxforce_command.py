"""The command `train-maxforce`: options, progress and the table of iterations."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.train_maxforce import train_maxforce
from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.engine_options import Address, EngineOption, Workers
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.common.iterations import iteration_table
from phrasebeam.training.maxforce.state import MaxforceIteration
from phrasebeam.training.maxforce.updates import Strategy
from phrasebeam.training.online.progress import OnlineProgress


def train_maxforce_command(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: shared.Source,
    target: shared.Target,
    dev_source: Annotated[Path, typer.Option(help="Other sentences, whose score says when to stop.")],
    dev_reference: shared.DevReference,
    output: shared.Output,
    alignment: shared.Alignment = None,
    config: Annotated[Path | None, config_option("yu2013-maxforce")] = None,
    update: Annotated[Strategy | None, typer.Option(help="Where to update.", show_default="standard")] = None,
    iterations: Annotated[int | None, typer.Option(help="Over the data, at most.", show_default="8")] = None,
    leave_one_out: Annotated[LeaveOneOut | None, typer.Option(help=shared.ONE_OUT, show_default="drop")] = None,
    lm_folds: shared.LmFolds = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Of the order of sentences; of several, the mean of what they learn.", show_default="1"),
    ] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
    force: Force = False,
    require_gain: shared.RequireGain = False,
) -> int:
    """Learn dense and sparse weights on training data: the violation-fixing perceptron with forced decoding."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    result, gain = train_maxforce(**given)
    for number, progress in result.progress.items():
        if result.mean:
            print(f"seed {number}")
        print_table(to_table(progress))
    if result.mean:
        print(f"mean of all seeds: {result.mean.score:.2f}")
    return shared.status_of(gain, require_gain)


def to_table(progress: OnlineProgress[MaxforceIteration]) -> Rows:
    """A row for each iteration, the best one marked."""
    rows = {}
    for number, iteration in enumerate(progress.iterations):
        speed = f"{iteration.speed:.1f}" if iteration.seconds else ""
        solved_ratio = iteration.solved / max(iteration.examples, 1)
        ratios = [f"{100 * iteration.invalid_ratio:.1f}%", f"{100 * solved_ratio:.1f}%"]
        rows[number] = [f"{iteration.score:.2f}", str(iteration.updates), *ratios, str(iteration.features), speed]
    header = ["score", "updates", "invalid", "solved", "features", "sentences/s"]
    return iteration_table(header, rows, progress.best)
