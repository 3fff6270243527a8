"""serve: models over HTTP."""

from pathlib import Path

from phrasebeam.api.arguments import Files, check_range
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError

EXTRA = "the server needs FastAPI and uvicorn; run pip install 'phrasebeam[server]'"
MOST_PORT = 65535


def serve(
    model: Files,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    threads: int = 1,
) -> None:
    """Serve models over HTTP until a signal ends it: an interface of its own, and those of Moses and LibreTranslate.

    Args:
        model: Model directories, or "NAME=DIR"; a request that names none means the first.
        port: Where it listens; 0: any free port.
        host: Address that it listens on, "0.0.0.0" for all.
        threads: Sentences translated at the same time.

    Raises SmtError or OSError.
    """
    check_range("port", port, 0, MOST_PORT)
    check_range("threads", threads, 1, MOST_THREADS)
    try:
        from phrasebeam.server.app import create_app
        from phrasebeam.server.http_server import run_app
        from phrasebeam.server.serving.served_models import named_directories
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error}; {EXTRA}") from None
    models = [model] if isinstance(model, (str, Path)) else list(model)
    app = create_app(named_directories(models), threads)
    run_app(app, host, port)
