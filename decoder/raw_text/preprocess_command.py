"""The command `preprocess`, and the options for raw text that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from phrasebeam.base.files import check_keeps_inputs, output_file, read_input
from phrasebeam.console.input_stage import stage_of_input
from phrasebeam.decoder.model.digests import model_paths


def preprocess(
    model: Annotated[Path, typer.Option(help="Model directory of train-model --raw or import-moses.")],
    side: Annotated[Literal["source", "target"], typer.Option(help="The language of the text.")],
    input: Annotated[Path | None, typer.Option(help="File of raw text.", show_default="standard input")] = None,
    output: Annotated[Path | None, typer.Option(help="File for the tokens.", show_default="standard output")] = None,
) -> None:
    """Tokenize and case raw text as the model needs it, such as text to tune on."""
    from phrasebeam.decoder.raw_text.raw_text import RawText

    check_keeps_inputs([output], [input, *model_paths(model)])
    raw_text = RawText.load(model)
    preprocessor = raw_text.source if side == "source" else raw_text.target
    with output_file(output) as file, stage_of_input("preprocessing", input, output) as advance:
        for line in read_input(input):
            file.write(preprocessor.line(line).encode("utf-8") + b"\n")
            if output is None:
                file.flush()
            advance(1)
