"""The command `check-model`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Memory
from phrasebeam.base.errors import ModelError
from phrasebeam.base.memory_bound import keep_memory, memory_option
from phrasebeam.decoder.model.description import accept_files, open_description
from phrasebeam.decoder.model.model_check import findings

NO_DIGESTS = "its model.yaml is of an older version and has no digests, which --accept writes"


def check_model(
    model: Annotated[Path, typer.Argument(help="Model directory, as train-model writes it.")],
    accept: Annotated[
        bool, typer.Option("--accept", help="Take changed files as right: write their digests to model.yaml.")
    ] = False,
    memory: Memory = None,
) -> None:
    """Read all of a model and report what is damaged: file, position, value, what was expected."""
    keep_memory(memory_option(memory))
    lines = list(findings(model, is_verified=not accept))
    for line in lines[1:]:
        print(line)
    if lines:
        raise ModelError(lines[0])
    if accept:
        accept_files(model)
    is_complete = open_description(model).has_digests
    print(f"{model}: sound" if is_complete else f"{model}: no wrong numbers; {NO_DIGESTS}")
