"""Options that commands of trainers share, as types of their parameters; None: not given, see config_with_options."""

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[Path, typer.Option(help="Source sentences of the training data, tokenized, one a line.")]
Target = Annotated[Path, typer.Option(help="Their translations, line by line.")]
Alignment = Annotated[
    Path | None, typer.Option(help="Their word alignment (0-0 1-2 ...).", show_default="what the model keeps of them")
]
DevReference = Annotated[list[Path], typer.Option(help="Their translations, one file for each set of them.")]
Output = Annotated[Path, typer.Option(help="Directory of the model; a training that was stopped there goes on.")]
LmFolds = Annotated[int | None, typer.Option(help="Language models without a fold of the data each.", show_default="0")]
Threads = Annotated[int | None, typer.Option(help="Processor cores to use; results do not depend on it.")]
ONE_OUT = "Phrase pairs that only the sentence pair itself supports."  # help of --leave-one-out
