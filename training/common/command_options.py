"""Options that commands of trainers share, as types of their parameters; None: not given, see config_with_options."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.training.common.gain import Gain

NO_GAIN = 3  # exit status
Source = Annotated[Path, typer.Option(help="Source sentences of the training data, tokenized, one a line.")]
Target = Annotated[Path, typer.Option(help="Their translations, line by line.")]
Alignment = Annotated[
    Path | None, typer.Option(help="Their word alignment (0-0 1-2 ...).", show_default="what the model keeps of them")
]
DevReference = Annotated[list[Path], typer.Option(help="Their translations, one file for each set of them.")]
Output = Annotated[Path, typer.Option(help="Directory of the model; a training that was stopped there goes on.")]
LmFolds = Annotated[int | None, typer.Option(help="Language models without a fold of the data each.", show_default="5")]
Threads = Annotated[int | None, typer.Option(help="Processor cores to use; results do not depend on it.")]
RequireGain = Annotated[
    bool,
    typer.Option(
        "--require-gain",
        help=f"End with status {NO_GAIN} where no weights score better on the development data than before.",
    ),
]
RequireGainOnLists = Annotated[
    bool,
    typer.Option("--require-gain", help=f"End with status {NO_GAIN} where what is learned is no better on its lists."),
]
# help of --leave-one-out
ONE_OUT = "Phrase pairs that only the sentence pair itself supports; singletons: drop all that occur once."


def status_of(gain: Gain, is_required: bool) -> int:
    """The exit status of a training; where nothing was gained, the last line of its output says so."""
    if gain.found:
        return 0
    print(gain)
    return NO_GAIN if is_required else 0
