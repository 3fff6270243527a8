"""The application on a port, run by uvicorn until a signal ends it."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.process.interruption import stop_by_signals
from phrasebeam.server.bounded_protocol import bounded_protocol
from phrasebeam.server.serving.server_settings import ServerLimits
from phrasebeam.system.limits import open_files_limit

SWITCH_SECONDS = 2e-4
SECONDS_TO_END = 5.0  # in addition to the time limit of a request, to send its answer


class _Server(uvicorn.Server):
    """A server without signal handlers of its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command, or to the Python program that calls `serve`."""
        yield

    def stop(self) -> None:
        """Take no further requests, and end when the running requests have been answered."""
        self.should_exit = True


def run_app(app: FastAPI, host: str, port: int) -> None:
    """Serve `app` until a signal comes or the thread is interrupted; requests in progress are answered.

    Raises ConfigError if the server cannot listen there.
    """
    limits = _with_files_left(app.state.service.limits)
    config = uvicorn.Config(
        app,
        # httptools, and uvloop (not on Windows): a request takes a fifth of the time that the alternatives take
        loop="auto",
        http=bounded_protocol(limits),
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(limits.max_seconds + SECONDS_TO_END),
    )
    server = _Server(config)
    with _listening(host, port) as listener, stop_by_signals(server.stop), _quick_switches():
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        log.info("listening on %s (the page in a browser; %s/docs lists all endpoints)", address, address)
        server.run(sockets=[listener])


def _with_files_left(limits: ServerLimits) -> ServerLimits:
    """The limits, with connections for at most half of the files that may be open: models and projects need some."""
    files = open_files_limit()
    if files is None or (most := files // 2) >= limits.max_connections:
        return limits
    log.info("at most %d connections, half of the files that may be open (ulimit -n)", most)
    return limits.model_copy(update={"max_connections": most})


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Shorten Python's switch interval. In its 5 ms the event loop would keep the lock from decoding threads."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ConfigError(f"cannot listen on {host}, port {port}: {why}; give another --host or --port") from None
