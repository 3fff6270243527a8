"""Options of all commands that an engine works for, as types of their parameters."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer

from phrasebeam.base.config import parse_config
from phrasebeam.engine.current_engine import MOST_WORKERS, EngineName, EngineSettings, using_engine
from phrasebeam.engine.protocols import Engine

EngineOption = Annotated[
    EngineName,
    typer.Option("--engine", help="Who does the work: this machine, or Ray's workers; results do not depend on it."),
]
Address = Annotated[
    str | None, typer.Option(help="Of Ray's cluster, host:port or auto.", show_default="one is started here")
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_WORKERS,
        help="Processes that work at the same time.",
        show_default="Ray's processors, or --threads",
    ),
]


def chosen_engine(engine: EngineName, address: str | None, workers: int | None) -> AbstractContextManager[Engine]:
    """The engine that the options of these names mean, for as long as the context lasts. Raises ConfigError."""
    given = {"engine": engine, "address": address, "workers": workers}
    return using_engine(parse_config(given, EngineSettings, "options"))
