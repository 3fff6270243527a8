"""The command `serve`."""

from typing import Annotated

import typer

from phrasebeam.api.serve import MOST_PORT
from phrasebeam.api.serve import serve as served
from phrasebeam.base.config import MOST_THREADS


def serve(
    model: Annotated[list[str], typer.Option(help="Model directories, or NAME=DIR; the first is meant by default.")],
    port: Annotated[int, typer.Option(min=0, max=MOST_PORT, help="Port to listen on; 0: any.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all.")] = "127.0.0.1",
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentences translated at the same time.")] = 1,
) -> None:
    """Serve models over HTTP, with the interfaces of Moses and LibreTranslate besides one of its own."""
    served(model, port=port, host=host, threads=threads)
