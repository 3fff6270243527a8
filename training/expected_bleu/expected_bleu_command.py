"""The command `train-expected-bleu`: options, progress and the table of iterations."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.trainers.train_expected_bleu import train_expected_bleu
from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.progress import show_progress
from phrasebeam.console.tables import Rows, print_table
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.engine_options import Address, EngineOption, Workers
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.common.iterations import iteration_table
from phrasebeam.training.expected_bleu.config import Optimizer
from phrasebeam.training.expected_bleu.expected_bleu_model import ExpectedBleuProgress


def train_expected_bleu_command(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model and tune write it.")],
    source: shared.Source,
    target: shared.Target,
    dev_source: Annotated[Path, typer.Option(help="Other sentences, whose score says which iteration is the best.")],
    dev_reference: shared.DevReference,
    output: shared.Output,
    alignment: shared.Alignment = None,
    lists: Annotated[
        Path | None, typer.Option(help="Directory for the n-best lists, which further trainings then find there.")
    ] = None,
    config: Annotated[Path | None, config_option("wuebker2015-rprop")] = None,
    optimizer: Annotated[Optimizer | None, typer.Option(help="How to step.", show_default="rprop")] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="By commas: a, phrase pairs; b, word pairs; c, triplets; d, orientations; e, these of edge words.",
            show_default="a to d",
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Steps over all lists.", show_default="40")] = None,
    leave_one_out: Annotated[LeaveOneOut | None, typer.Option(help=shared.ONE_OUT, show_default="penalty")] = None,
    lm_folds: shared.LmFolds = None,
    threads: shared.Threads = None,
    memory: Memory = None,
    engine: EngineOption = "local",
    address: Address = None,
    workers: Workers = None,
    force: Force = False,
    require_gain: shared.RequireGain = False,
) -> int:
    """Learn scores of phrase pairs on training data, so that the expected BLEU of n-best lists becomes large."""
    given = locals()  # the options, which are arguments of the function
    given.pop("require_gain")
    show_progress()
    progress, gain = train_expected_bleu(**given)
    print_table(to_table(progress))
    return shared.status_of(gain, require_gain)


def to_table(progress: ExpectedBleuProgress) -> Rows:
    """A row for each iteration that has a score, the best one marked."""
    rows = {
        number: [f"{iteration.score:.2f}", f"{iteration.expected_bleu:.4f}", f"{iteration.objective:.5f}"]
        for number, iteration in enumerate(progress.iterations)
        if iteration.score is not None
    }
    return iteration_table(["score", "expected BLEU", "objective"], rows, progress.best)
