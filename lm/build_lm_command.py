"""The command `build-lm`: an n-gram language model estimated from text."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from phrasebeam.base.config import Bytes, Section, parse_config
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.lm.arpa import write_arpa
from phrasebeam.lm.estimate import MIN_ORDER, estimate
from phrasebeam.lm.ngrams import MAX_ORDER, NgramModel
from phrasebeam.lm.probing_writer import write_probing

ARPA_SUFFIXES = (".arpa", ".arpa.gz")


class EstimationLimits(Section):
    """Limits of estimation."""

    memory: Bytes = Field(gt=0, description="peak of the process")


def build_lm(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line, plain or .gz; repeatable.")],
    output: Annotated[
        list[Path],
        typer.Option(help="Model to write: ARPA if named .arpa or .arpa.gz, else KenLM's binary; repeatable."),
    ],
    order: Annotated[int, typer.Option(min=MIN_ORDER, max=MAX_ORDER, help="Words of the longest n-grams.")] = 4,
    memory: Annotated[str, typer.Option(help="Peak memory; n-grams that do not fit in it go to disk.")] = "2G",
    scratch: Annotated[
        Path | None, typer.Option(help="Directory for temporary files.", show_default="the system's, $TMPDIR")
    ] = None,
) -> None:
    """Estimate an n-gram language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does."""
    show_progress()
    model = estimate(text, order, parse_config({"memory": memory}, EstimationLimits, "options").memory, scratch)
    for path in output:
        with stage(f"writing {path}"):
            write_model(model, path)


def write_model(model: NgramModel, path: Path) -> None:
    """Write `model` as ARPA if `path` ends in .arpa or .arpa.gz, else as KenLM's probing binary."""
    if path.name.endswith(ARPA_SUFFIXES):
        write_arpa(model, path)
    else:
        write_probing(model, path)
