"""The command `preprocess`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api import preprocess as preprocessing
from phrasebeam.api.preprocess import Side
from phrasebeam.console.input_stage import show_input_progress


def preprocess(
    model: Annotated[Path, typer.Option(help="Model directory of train-model --raw or import-moses.")],
    side: Annotated[Side, typer.Option(help="The language of the text.")],
    input: Annotated[Path | None, typer.Option(help="File of raw text.", show_default="standard input")] = None,
    output: Annotated[Path | None, typer.Option(help="File for the tokens.", show_default="standard output")] = None,
) -> None:
    """Tokenize and case raw text as the model needs it, such as text to tune on."""
    output = output or Path("-")
    show_input_progress(input, output)
    preprocessing.preprocess(model, side, input=input, output=output)
