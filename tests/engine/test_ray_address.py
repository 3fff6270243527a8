"""Ways to a cluster that end before it: nothing listens there, it is something else, the token is missing or wrong."""

import os
import socket
import subprocess
import sys

import pytest

from phrasebeam.base.errors import ConfigError
from phrasebeam.engine.ray_address import SECONDS_OF_TRY, TRIES, few_tries, kept_standard_error, prepare_for, refusal
from tests import ROOT

CONNECT = """import sys
from phrasebeam.base.errors import ConfigError
from phrasebeam.engine.ray_cluster import connect
try:
    print(connect(sys.argv[1], 1).n_workers)
except ConfigError as error:
    print(error)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home without a token, and an environment that names none."""
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)
    for name in ("RAY_AUTH_MODE", SECONDS_OF_TRY[0]):  # what prepare_for sets is taken back
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def connected(address):
    """What a process of its own says that connects to `address`: workers, or one line of what is wrong."""
    command = [sys.executable, "-c", CONNECT, address]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


def token_of(home, text):
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text(text)


def test_where_nothing_listens(home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"{address}: nothing listens there .Connection refused.; start a"):
            prepare_for(address)
    with pytest.raises(ConfigError, match=r"no\.such\.host:6379: nothing listens there"):
        prepare_for("no.such.host:6379")


@pytest.mark.parametrize("address", ["auto", "127.0.0.1", "ray://127.0.0.1:1", "host:name"])
def test_other_addresses_are_left_to_ray(home, address):
    prepare_for(address)


def test_a_token_is_used_where_there_is_one(home, monkeypatch):
    prepare_for("auto")
    assert "RAY_AUTH_MODE" not in os.environ
    token_of(home, "x")
    prepare_for("auto")
    assert os.environ["RAY_AUTH_MODE"] == "token"
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    prepare_for("auto")
    assert os.environ["RAY_AUTH_MODE"] == "disabled"


def test_what_a_refusal_says(home, monkeypatch):
    words = "RPC error: InvalidAuthToken: ..."
    assert refusal("Failed to connect") is None
    assert "wants a token, and there is none here; write what" in refusal(words)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x")
    assert "wants the token of RAY_AUTH_TOKEN, which RAY_AUTH_MODE keeps back" in refusal(words)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert "does not take the token of RAY_AUTH_TOKEN" in refusal(words)


def test_few_tries_are_those_of_connecting_alone(home, monkeypatch):
    with few_tries():
        assert os.environ[TRIES[0]] == TRIES[1]
    assert TRIES[0] not in os.environ
    monkeypatch.setenv(TRIES[0], "60")
    with few_tries():
        assert os.environ[TRIES[0]] == "60"
    assert os.environ[TRIES[0]] == "60"


def test_standard_error_is_kept_from_others_for_a_while(capfd):
    with kept_standard_error() as file:
        os.write(2, b"of a library\n")
        print("of Python", file=sys.stderr)
        sys.stderr.flush()
        file.seek(0)
        assert b"of a library" in file.read()
    os.write(2, b"after\n")
    assert capfd.readouterr().err.endswith("after\n")


def test_tokens_of_a_cluster(cluster, monkeypatch, home):
    import ray

    token = ray._raylet.AuthenticationTokenLoader.instance().get_raw_token()
    assert connected(cluster) == f"{cluster}: the cluster wants a token, and there is none here; " + (
        "write what ray get-auth-token prints on its head into ~/.ray/auth_token"
    )
    token_of(home, "0" * 64)
    assert connected(cluster).startswith(f"{cluster}: the cluster does not take the token of ~/.ray/auth_token; write")
    (home / ".ray" / "auth_token").write_text(token)
    assert connected(cluster) == "1"
