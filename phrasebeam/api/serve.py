"""serve: models over HTTP."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, check_range, memory_bound, optional_path
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import memory_option
from phrasebeam.decoder.translate.translate_settings import Flags, overridden

EXTRA = "the server needs FastAPI and uvicorn; run pip install 'phrasebeam[server]'"
MOST_PORT = 65535


@checked
def serve(
    model: Files,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    threads: int = 1,
    token_file: File | None = None,
    allowed_host: str | Sequence[str] | None = None,
    projects: File | None = None,
    languages: str | Iterable[str] | None = None,
    max_words: int | None = None,
    max_lines: int | None = None,
    max_bytes: int | None = None,
    max_nbest: int | None = None,
    max_waiting: int | None = None,
    max_seconds: float | None = None,
    max_head: int | None = None,
    max_idle: float | None = None,
    max_connections: int | None = None,
    memory: Memory | None = None,
) -> None:
    """Serve models over HTTP until a signal ends it: an interface of its own, and those of Moses and LibreTranslate.

    Args:
        model: Model directories, or "NAME=DIR"; a request that names none means the first.
        port: Where it listens; 0: any free port.
        host: Address that it listens on, "0.0.0.0" for all.
        threads: Sentences translated at the same time.
        token_file: File with a token that requests must have as "Authorization: Bearer TOKEN".
        allowed_host: Names by which it may be called, beside `host`, localhost and addresses; with a token any name is.
        projects: Directory of what is confirmed by /v1/segments, a journal for each project; None: there are none.
        languages: "NAME=SOURCE:TARGET", the languages of a model by its name for LibreTranslate's clients; those of raw
            text know theirs.
        max_words: Words of a sentence.
        max_lines: Sentences of a request.
        max_bytes: Bytes of a request.
        max_nbest: Translations of a sentence.
        max_waiting: Requests that wait for a thread; further ones are refused.
        max_seconds: From a request to its answer.
        max_head: Bytes of a request besides its body.
        max_idle: Seconds in which a client sends the head of a request, or reads some of its answer.
        max_connections: Connections at the same time, and at most half of the files that may be open.
        memory: Bytes that may be held in memory, such as "2G" (the default).

    Raises SmtError or OSError.
    """
    check_range("port", port, 0, MOST_PORT)
    check_range("threads", threads, 1, MOST_THREADS)
    try:
        from phrasebeam.server.app import create_app
        from phrasebeam.server.http_server import run_app
        from phrasebeam.server.serving.authorization import check_host_name, read_token
        from phrasebeam.server.serving.languages import named_languages
        from phrasebeam.server.serving.served_models import named_directories
        from phrasebeam.server.serving.server_settings import ServerLimits
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error}; {EXTRA}") from None
    given: Flags = {"max_words": max_words, "max_lines": max_lines, "max_bytes": max_bytes, "max_nbest": max_nbest}
    given |= {"max_waiting": max_waiting, "max_seconds": max_seconds, "max_head": max_head, "max_idle": max_idle}
    given["max_connections"] = max_connections
    limits = overridden(ServerLimits(), given, "options of serve")
    token = read_token(Path(token_file)) if token_file else None
    models = named_directories([model] if isinstance(model, (str, Path)) else list(model))
    known = named_languages([languages] if isinstance(languages, str) else languages or (), models)
    names = [allowed_host] if isinstance(allowed_host, str) else allowed_host or ()
    hosts = [host, *map(check_host_name, names)]
    with memory_bound(memory_option(memory)):
        run_app(create_app(models, threads, limits, token, optional_path(projects), known, hosts), host, port)
