"""The command `report`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import report as reported


def report(
    run: Annotated[Path, typer.Argument(help="What tune, train or a train- command wrote to --output.")],
    output: Annotated[Path, typer.Option(help="File for the page, .html.")],
) -> None:
    """Tell of a training as one page: curves, settings, weights, translations that changed."""
    reported(run, output)
    print(f"{output}: report of {run}")
