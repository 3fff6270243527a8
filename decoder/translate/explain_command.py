"""The command `explain`."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import explain as explained
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.console.tables import print_table
from phrasebeam.process.hints import hint


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
    features, translation, n_fired = explained(model, top=top, source=source)
    if translation is None:
        rows = [(f"{one.weight:+.6f}", one.name) for one in features]
        print_table([("weight", "feature"), *rows], "\n".join(map("  ".join, rows)))
        if not rows:
            hint(f"{model}: no sparse feature has a weight; its training may have gained nothing, see its README.md")
        return
    print(f"{translation.text}\nscore {translation.score:.4f}, {n_fired} sparse features")
    shown = [(f"{one.weight * one.value:+.6f}", f"{one.value:g} x {one.name}") for one in features]
    print_table([("score", "feature"), *shown], "\n".join(map("  ".join, shown)))
