"""The command `check-model`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import check_model as find_damage
from phrasebeam.base.command_line import Memory
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.description import open_description

NO_DIGESTS = "its model.yaml is of an older version and has no digests, which --accept writes"


def check_model(
    model: Annotated[Path, typer.Argument(help="Model directory, as train-model writes it.")],
    accept: Annotated[
        bool, typer.Option("--accept", help="Take changed files as right: write their digests to model.yaml.")
    ] = False,
    memory: Memory = None,
) -> None:
    """Read all of a model and report what is damaged: file, position, value, what was expected."""
    lines = find_damage(model, accept=accept, memory=memory)
    for line in lines[1:]:
        print(line)
    if lines:
        raise ModelError(lines[0])
    is_complete = open_description(model).has_digests
    print(f"{model}: sound" if is_complete else f"{model}: no wrong numbers; {NO_DIGESTS}")
