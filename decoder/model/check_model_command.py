"""The command `check-model`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Memory
from phrasebeam.base.errors import ModelError
from phrasebeam.base.memory_bound import keep_memory, memory_option
from phrasebeam.decoder.model.model_check import findings


def check_model(
    model: Annotated[Path, typer.Argument(help="Model directory, as train-model writes it.")], memory: Memory = None
) -> None:
    """Read all of a model and report what is damaged: file, position, value, what was expected."""
    keep_memory(memory_option(memory))
    lines = list(findings(model))
    for line in lines[1:]:
        print(line)
    if lines:
        raise ModelError(f"{lines[0]}; train the model again or copy it whole")
    print(f"{model}: sound")
