"""The command `explain`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import ConfigError
from phrasebeam.console.tables import print_table
from phrasebeam.decoder.translate.explain import fired, heaviest
from phrasebeam.decoder.translate.translator import Decoder


def explain(
    model: Annotated[Path, typer.Option(help="Model directory with sparse features.")],
    top: Annotated[
        int, typer.Option(min=1, max=MOST_COUNTED, help="Features of each group, or of the translation.")
    ] = 50,
    source: Annotated[
        str | None, typer.Option(help="A tokenized sentence: show what fired in its translation instead.")
    ] = None,
) -> None:
    """List the heaviest sparse features of a model by group, or those that fired in a translation."""
    decoder = Decoder.load(model)
    if not decoder.tables.sparse.active.any():
        raise ConfigError(f"{model}: no sparse features to explain; train-maxforce learns some")
    if source is None:
        rows = [(f"{one.weight:+.6f}", one.name) for one in heaviest(decoder, model, top)]
        print_table([("weight", "feature"), *rows], "\n".join(map("  ".join, rows)))
        return
    translation, found = fired(decoder, source)
    print(f"{translation.text}\nscore {translation.score:.4f}, {len(found)} sparse features")
    shown = [(f"{one.weight * one.value:+.6f}", f"{one.value:g} x {one.name}") for one in found[:top]]
    print_table([("score", "feature"), *shown], "\n".join(map("  ".join, shown)))
