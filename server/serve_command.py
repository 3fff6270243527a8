"""The command `serve`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from phrasebeam.api.serve import MOST_PORT
from phrasebeam.api.serve import serve as served
from phrasebeam.base.command_line import Memory
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.progress import show_progress
from phrasebeam.server.serving.server_settings import ServerLimits


def _limit(name: str, help: str) -> Any:
    default = str(ServerLimits.model_fields[name].default)
    return typer.Option(help=help, rich_help_panel="Limits", show_default=default)


def serve(
    model: Annotated[list[str], typer.Option(help="Model directories, or NAME=DIR; the first is meant by default.")],
    port: Annotated[int, typer.Option(min=0, max=MOST_PORT, help="Port to listen on; 0: any.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all.")] = "127.0.0.1",
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentences translated at the same time.")] = 1,
    token_file: Annotated[
        Path | None, typer.Option(help="File with a token that requests must have, Authorization: Bearer TOKEN.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name by which it may be called, where it has no token; repeatable.")
    ] = None,
    projects: Annotated[
        Path | None, typer.Option(help="Directory of confirmed translations, from which requests learn: /v1/segments.")
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option(help="NAME=SOURCE:TARGET, languages of a model for LibreTranslate's clients, such as news=de:en."),
    ] = None,
    max_words: Annotated[int | None, _limit("max_words", "Words of a sentence.")] = None,
    max_lines: Annotated[int | None, _limit("max_lines", "Sentences of a request.")] = None,
    max_bytes: Annotated[int | None, _limit("max_bytes", "Bytes of a request.")] = None,
    max_nbest: Annotated[int | None, _limit("max_nbest", "Translations of a sentence.")] = None,
    max_waiting: Annotated[int | None, _limit("max_waiting", "Requests that wait; further ones are refused.")] = None,
    max_seconds: Annotated[float | None, _limit("max_seconds", "Seconds from a request to its answer.")] = None,
    max_head: Annotated[int | None, _limit("max_head", "Bytes of a request besides its body.")] = None,
    max_idle: Annotated[float | None, _limit("max_idle", "Seconds in which a client sends a head, or reads.")] = None,
    max_connections: Annotated[int | None, _limit("max_connections", "Connections at the same time.")] = None,
    memory: Memory = None,
) -> None:
    """Serve models over HTTP, with the interfaces of Moses and LibreTranslate besides one of its own.

    A model that is replaced under its name is taken up while requests go on.
    """
    show_progress()
    served(
        model,
        port=port,
        host=host,
        threads=threads,
        token_file=token_file,
        allowed_host=allowed_host,
        projects=projects,
        languages=languages,
        max_words=max_words,
        max_lines=max_lines,
        max_bytes=max_bytes,
        max_nbest=max_nbest,
        max_waiting=max_waiting,
        max_seconds=max_seconds,
        max_head=max_head,
        max_idle=max_idle,
        max_connections=max_connections,
        memory=memory,
    )
