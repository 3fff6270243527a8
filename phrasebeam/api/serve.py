"""serve: a server that translates over HTTP."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypedDict, Unpack

from pydantic import Field

from phrasebeam.api.arguments import AtOnce, File, Files, MemoryBound, memory_bound, optional_path, texts
from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.base.options import described, heading, settings_given
from phrasebeam.server.serving.server_settings import ServerLimits

EXTRA = "the server needs FastAPI and uvicorn; run pip install 'phrasebeam[server]'"
MOST_PORT = 65535


@heading("Limits")
class LimitOptions(TypedDict, total=False):
    """Limits of one request, and of the number of waiting requests."""

    max_words: int | None
    max_lines: int | None
    max_bytes: int | None
    max_nbest: int | None
    max_waiting: int | None
    max_seconds: float | None
    max_head: int | None
    max_idle: float | None
    max_connections: int | None


@described(ServerLimits)
def serve(
    model: Annotated[Files, "Model directories, or NAME=DIR; requests without a model name use the first."],
    *,
    port: Annotated[int, Field(ge=0, le=MOST_PORT), "Port to listen on; 0: any free port."] = 8000,
    host: Annotated[str, "Address to listen on; 0.0.0.0: all addresses."] = "127.0.0.1",
    threads: AtOnce = 1,
    token_file: Annotated[
        File | None, "File with a token; requests must have the header 'Authorization: Bearer TOKEN'."
    ] = None,
    allowed_host: Annotated[
        str | Sequence[str] | None,
        "More host names to accept, besides `host`, localhost and addresses; with a token all names are accepted.",
    ] = None,
    projects: Annotated[
        File | None,
        "Directory for projects: each has a journal of the segments confirmed by /v1/segments, which its requests use.",
    ] = None,
    project: Annotated[
        str | None,
        "A project of `projects` for clients of LibreTranslate and MateCat: its confirmed translations are used, and "
        "/suggest adds to them.",
    ] = None,
    tm: Annotated[
        str | Sequence[str] | None,
        "Translation memories for all projects of a model: FILE for the first model, or MODEL=FILE.",
    ] = None,
    terms: Annotated[
        str | Sequence[str] | None,
        "Term bases (CSV, TSV, TBX) that are used in all requests to a model: FILE for the first model, or MODEL=FILE.",
    ] = None,
    watch: Annotated[
        str | Sequence[str] | None,
        "PROJECT=FILE or MODEL/PROJECT=FILE: a translation memory that a translator's program saves, such as OmegaT's "
        "project_save.tmx; the project learns its segments after each save.",
    ] = None,
    cors_origin: Annotated[
        str | Sequence[str] | None,
        "Origins of web pages whose scripts may call all endpoints, such as https://mt.example, or * for all origins; "
        "LibreTranslate's endpoints are always open.",
    ] = None,
    languages: Annotated[
        str | Iterable[str] | None,
        "NAME=SOURCE:TARGET: the languages of a model for LibreTranslate's clients, such as news=de:en; models for raw "
        "text know their languages.",
    ] = None,
    memory: MemoryBound = None,
    **limits: Unpack[LimitOptions],
) -> None:
    """Serve models over HTTP, with a web page, an API of its own, and the APIs of Moses and LibreTranslate.

    Runs until a signal ends it.

    Raises SmtError or OSError.
    """
    try:
        from phrasebeam.server.app import create_app
        from phrasebeam.server.http_server import run_app
        from phrasebeam.server.serving.authorization import check_host_name, read_token
        from phrasebeam.server.serving.cross_origin import Clients, checked_origin
        from phrasebeam.server.serving.languages import named_languages
        from phrasebeam.server.serving.projects import checked_project, named_files
        from phrasebeam.server.serving.served_models import ServedModels, named_directories
        from phrasebeam.server.serving.watched_memories import KeptProjects, watched_file
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error}; {EXTRA}") from None
    given = parse_config(settings_given(serve, ServerLimits, limits), ServerLimits, "options of serve")
    token = read_token(Path(token_file)) if token_file else None
    models = named_directories([model] if isinstance(model, (str, Path)) else list(model))
    known = named_languages(texts(languages), models)
    hosts = [host, *map(check_host_name, texts(allowed_host))]
    clients = Clients([*map(checked_origin, texts(cors_origin))], checked_project(project, projects is not None))
    if (tm or watch) and projects is None:
        raise ConfigError("--tm and --watch are for projects; give --projects DIR, too")
    memories, bases = named_files("--tm", texts(tm), models), named_files("--terms", texts(terms), models)
    if twice := next((name for name, files in bases.items() if len(files) > 1), None):
        raise ConfigError(f"--terms: the model {twice} has two files of terms, expected one; put them together")
    keeping = KeptProjects(optional_path(projects), memories, [watched_file(one, models) for one in texts(watch)])
    with memory_bound(memory_option(memory)):
        served = ServedModels(models, known, {name: files[0] for name, files in bases.items()})
        run_app(create_app(served, threads, given, token, keeping, hosts, clients), host, port)
