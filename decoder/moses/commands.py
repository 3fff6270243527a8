"""The commands `import-moses` and `export-moses`."""

from pathlib import Path
from typing import Annotated

import typer

from decoder.config import Importing
from lm.config import parse_config
from lm.progress import show_progress


def import_moses(
    ini: Annotated[Path, typer.Argument(help="The model's moses.ini; paths in it may be relative to its folder.")],
    output: Annotated[Path, typer.Option(help="Directory for the model; a model there is replaced.")],
    memory: Annotated[str | None, typer.Option(help="Memory that it may take, such as 2G.")] = None,
) -> None:
    """Make a Moses model ours; beside it, search.yaml keeps Moses' limits of the search: translate --config."""
    from decoder.moses.importing import import_moses as run

    settings = parse_config({"memory": memory} if memory else {}, Importing, "options")
    show_progress()
    description = run(ini, output, settings)
    if left_out := description.settings["left_out"]:
        names = ", ".join(f"[{name}]" for name in left_out) if isinstance(left_out, list) else left_out
        typer.echo(f"not taken over, since it does not belong to the model: {names}", err=True)


def export_moses(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model or import-moses writes it.")],
    output: Annotated[Path, typer.Option(help="Directory for the Moses model; an earlier export is replaced.")],
) -> None:
    """Write a model in Moses' formats: moses.ini, text tables, and the language model as a KenLM binary."""
    from decoder.moses.exporting import export_moses as run

    show_progress()
    run(model, output)
