"""The command `join-features`: a model with the sparse features of another."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import join_features
from phrasebeam.base.command_line import Force


def join(
    model: Annotated[Path, typer.Option(help="Model directory, as train-expected-bleu writes it, say.")],
    features: Annotated[
        Path,
        typer.Option(help="The one whose sparse features it gets, of train-maxforce, train-ranking or online tuning."),
    ],
    output: Annotated[Path, typer.Option(help="Directory of the model with both.")],
    force: Force = False,
) -> None:
    """Give a model the sparse features of another: what two trainings learned, to be tuned together."""
    join_features(model, features, output, force=force)
    print(f"{output}: {model} with the sparse features of {features}; now tune it")
