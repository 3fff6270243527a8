"""The command `report`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import report as reported
from phrasebeam.base.command_line import Memory


def report(
    run: Annotated[Path, typer.Argument(help="What tune, train or a train- command wrote to --output.")],
    output: Annotated[Path, typer.Option(help="File for the page, .html.")],
    memory: Memory = None,
) -> None:
    """Tell of a training as one page: curves, settings, weights, translations that changed."""
    reported(run, output, memory=memory)
    print(f"{output}: report of {run}")
