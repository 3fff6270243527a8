"""The application on a port, by uvicorn, until a signal ends it."""

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

SWITCH_SECONDS = 2e-4
SECONDS_TO_END = 5.0  # beyond the limit of a request, for its answer to be sent


class _Server(uvicorn.Server):
    """A server without signal handlers of its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command, or to whoever calls `serve` in Python."""
        yield

    def stop(self) -> None:
        """Take no further requests, and end when those that run have been answered."""
        self.should_exit = True


def run_app(app: FastAPI, host: str, port: int) -> None:
    """Serve `app` until a signal comes or the thread is interrupted; requests in progress are answered.

    Raises ConfigError where it cannot listen there.
    """
    seconds = app.state.service.limits.max_seconds + SECONDS_TO_END
    # uvloop and httptools: a fifth of what the others take for a request
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", log_config=None, access_log=False, timeout_graceful_shutdown=int(seconds)
    )
    server = _Server(config)
    with _listening(host, port) as listener, stop_by_signals(server.stop), _quick_switches():
        shown = f"[{host}]" if ":" in host else host
        log.info("listening on http://%s:%d", shown, listener.getsockname()[1])
        server.run(sockets=[listener])


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Let a thread that has decoded a sentence have Python's lock soon: the event loop would keep it for 5 ms."""
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
