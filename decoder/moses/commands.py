"""The commands `import-moses` and `export-moses`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.moses import export_moses as export_model
from phrasebeam.api.moses import import_moses as import_model
from phrasebeam.base.command_line import Force, Memory
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.moses.sections import INSTEAD


def import_moses(
    ini: Annotated[Path, typer.Argument(help="The model's moses.ini; paths in it may be relative to its folder.")],
    output: Annotated[Path, typer.Option(help="Directory for the model.")],
    memory: Memory = None,
    source_language: Annotated[str | None, typer.Option(help="For translate --raw: de, en, fr ...")] = None,
    target_language: Annotated[str | None, typer.Option(help="For translate --raw.")] = None,
    truecaser_source: Annotated[Path | None, typer.Option(help="Moses' truecaser, if the text was truecased.")] = None,
    truecaser_target: Annotated[Path | None, typer.Option(help="Moses' truecaser of the target language.")] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="The text was lowercased: for translate --raw.")
    ] = False,
    force: Force = False,
) -> None:
    """Convert a Moses model; search.yaml in the new one takes its limits of the search, and translate searches so."""
    given = locals()  # the options, which are arguments of the function
    show_progress()
    description = import_model(**given)
    for note in notes(description.settings):
        typer.echo(note, err=True)


def notes(settings: Mapping[str, object]) -> Iterator[str]:
    """Lines that tell what of a moses.ini an import has not taken over, and what it has added; of model.yaml."""
    if left_out := settings["left_out"]:
        names = [str(name) for name in left_out] if isinstance(left_out, list) else []
        texts = [f"[{name}]" + (f" ({INSTEAD[name]})" if name in INSTEAD else "") for name in names]
        yield f"not taken over, since it does not belong to the model: {', '.join(texts)}"
    if unweighted := settings.get("unweighted"):
        features = ", ".join(map(str, unweighted)) if isinstance(unweighted, list) else unweighted
        yield f"no weights of {features} in [weight]: 1 for each score, as in Moses; check that the file is whole"


def export_moses(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model or import-moses writes it.")],
    output: Annotated[Path, typer.Option(help="Directory for the Moses model.")],
    memory: Memory = None,
    force: Force = False,
) -> None:
    """Write a model in Moses' formats: moses.ini, text tables, and language models as KenLM binaries."""
    show_progress()
    export_model(model, output, memory=memory, force=force)
