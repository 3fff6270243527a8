"""Access to a running Ray cluster: whether it answers at its address, and accepts our token."""

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from phrasebeam.base.errors import ConfigError

SECONDS_TO_ANSWER = 10  # for the machine at the address
# If something else answers, Ray would try for ten minutes. These limit the seconds of an attempt, and the attempts.
SECONDS_OF_TRY = "RAY_py_gcs_connect_timeout_s", "10"
TRIES = "RAY_gcs_server_port_wait_time_s", "3"
DEFAULT_TOKEN = "~/.ray/auth_token"
REFUSALS = ("InvalidAuthToken", "no authentication token was found")  # in what Ray writes to standard error or raises


def prepare_for(address: str) -> None:
    """Check that something listens at `address`, host:port, and use a token if there is one, as `ray start` does.

    Call this before Ray is imported, which then reads the environment. Other addresses (auto) are left to Ray.
    Raises ConfigError if nothing listens.
    """
    os.environ.setdefault(*SECONDS_OF_TRY)
    if "RAY_AUTH_MODE" not in os.environ and _token_place():
        os.environ["RAY_AUTH_MODE"] = "token"
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "://" in address:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{address}: nothing listens there ({reason}); start a cluster with ray start --head, or give its address"
        ) from None


@contextmanager
def few_tries() -> Iterator[None]:
    """Let Ray connect with few attempts. The setting also applies to the start of a cluster, which keeps Ray's own."""
    name, value = TRIES
    is_ours = name not in os.environ
    os.environ.setdefault(name, value)
    try:
        yield
    finally:
        if is_ours:
            del os.environ[name]


def refusal(written: str) -> str | None:
    """Advice about a missing or wrong token if Ray's output or error is about that; otherwise None."""
    if not any(words in written for words in REFUSALS):
        return None
    place = _token_place()
    if not place:
        ours = "wants a token, and there is none here"
    elif os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        ours = f"wants the token of {place}, which RAY_AUTH_MODE keeps back"
    else:
        ours = f"does not take the token of {place}"
    return f"the cluster {ours}; write what ray get-auth-token prints on its head into {DEFAULT_TOKEN}"


@contextmanager
def kept_standard_error() -> Iterator[IO[bytes]]:
    """Keep the standard error output of this process, including Ray's library, in a file that can be read."""
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)


def _token_place() -> str:
    """The place in which Ray finds a token, in its order of search; empty if there is none."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN"
    if named := os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return named
    return DEFAULT_TOKEN if Path(DEFAULT_TOKEN).expanduser().is_file() else ""
