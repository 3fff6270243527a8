"""serve: models over HTTP."""

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
    """What one request may ask for, and how many may wait."""

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
    model: Annotated[Files, "Model directories, or NAME=DIR; a request that names none means the first."],
    *,
    port: Annotated[int, Field(ge=0, le=MOST_PORT), "Port to listen on; 0: any that is free."] = 8000,
    host: Annotated[str, "Address to listen on; 0.0.0.0: all."] = "127.0.0.1",
    threads: AtOnce = 1,
    token_file: Annotated[
        File | None, "File with a token that requests must have, as 'Authorization: Bearer TOKEN'."
    ] = None,
    allowed_host: Annotated[
        str | Sequence[str] | None,
        "Names by which it may be called, beside `host`, localhost and addresses; with a token any name is.",
    ] = None,
    projects: Annotated[
        File | None, "Directory of what is confirmed by /v1/segments, from which requests learn: a journal a project."
    ] = None,
    project: Annotated[
        str | None,
        "A project of `projects`, whose confirmed translations count for clients of LibreTranslate and MateCat, and "
        "take what is sent to /suggest.",
    ] = None,
    tm: Annotated[
        str | Sequence[str] | None,
        "Translation memories in which all projects of a model find segments: FILE, for the first model, or "
        "MODEL=FILE.",
    ] = None,
    terms: Annotated[
        str | Sequence[str] | None,
        "Term bases (CSV, TSV or TBX) whose translations count in all requests to a model: FILE, for the first model, "
        "or MODEL=FILE.",
    ] = None,
    watch: Annotated[
        str | Sequence[str] | None,
        "PROJECT=FILE or MODEL/PROJECT=FILE: a translation memory that a tool writes, such as OmegaT's "
        "project_save.tmx; the project learns what is saved in it.",
    ] = None,
    cors_origin: Annotated[
        str | Sequence[str] | None,
        "Origins of web pages whose scripts may call the server, such as https://mt.example, or * for all; "
        "LibreTranslate's endpoints are open to all.",
    ] = None,
    languages: Annotated[
        str | Iterable[str] | None,
        "NAME=SOURCE:TARGET, the languages of a model for LibreTranslate's clients, such as news=de:en; those of raw "
        "text know theirs.",
    ] = None,
    memory: MemoryBound = None,
    **limits: Unpack[LimitOptions],
) -> None:
    """Serve models over HTTP until a signal ends it: an interface of its own, and those of Moses and LibreTranslate.

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
        raise ConfigError("--tm and --watch are of projects; give --projects DIR, too")
    memories, bases = named_files("--tm", texts(tm), models), named_files("--terms", texts(terms), models)
    if twice := next((name for name, files in bases.items() if len(files) > 1), None):
        raise ConfigError(f"--terms: the model {twice} has two files of terms, expected one; put them together")
    keeping = KeptProjects(optional_path(projects), memories, [watched_file(one, models) for one in texts(watch)])
    with memory_bound(memory_option(memory)):
        served = ServedModels(models, known, {name: files[0] for name, files in bases.items()})
        run_app(create_app(served, threads, given, token, keeping, hosts, clients), host, port)
