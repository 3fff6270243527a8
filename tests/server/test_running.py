"""The command, as a process: requests that are cancelled, signals, addresses."""

import http.client
import json
import signal
import socket
import threading
import time
import urllib.request

import pytest

from phrasebeam.cli import main
from tests.server.running import running, wait_until
from tests.server.test_limits import ENDLESS

pytestmark = pytest.mark.needs_jit
SLOW = "a b c d a b c d a b"  # a fifth of a second with the model without limits


def post(url, body):
    """Status and answer."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, json.load(answer)


def decoding(url):
    """How many requests are decoded, or wait."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("phrasebeam_requests_decoding "))


def test_a_cancelled_request_stops_its_search(slow_toy):
    with running("--model", slow_toy, "--threads", 1) as server:
        address = server.url.removeprefix("http://")
        for path, body in [
            ("/v1/translate", json.dumps({"text": [ENDLESS, ENDLESS]})),
            ("/v1/complete", json.dumps({"text": ENDLESS})),
        ]:
            connection = http.client.HTTPConnection(address)
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            wait_until(lambda: decoding(server.url) == 1)
            connection.close()
            wait_until(lambda: decoding(server.url) == 0)
        assert post(f"{server.url}/v1/translate", {"text": "a"})[0] == 200  # by the only thread
        assert server.stop() == 0
        assert sum(" 499 " in line for line in server.lines) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_end(slow_toy, number):
    with running("--model", slow_toy, "--threads", 2) as server:
        answers = []
        thread = threading.Thread(
            target=lambda: answers.append(post(f"{server.url}/v1/translate", {"text": [SLOW] * 20}))
        )
        thread.start()
        wait_until(lambda: decoding(server.url) == 1)
        assert server.stop(number) == 0
        thread.join()
    ((status, answer),) = answers
    assert status == 200
    assert len({one["text"] for one in answer["translations"]}) == 1
    assert len(answer["translations"]) == 20


def test_a_second_signal_ends_it_at_once(slow_toy):
    with running("--model", slow_toy) as server:
        address = server.url.removeprefix("http://")
        connection = http.client.HTTPConnection(address)
        connection.request("POST", "/v1/translate", json.dumps({"text": ENDLESS}), {"Content-Type": "application/json"})
        wait_until(lambda: decoding(server.url) == 1)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.process.poll() is None
        assert server.stop() == 128 + signal.SIGTERM
        connection.close()


def test_addresses_that_cannot_be_had(toy, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--model", str(toy), "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1, port {port}: Address already in use" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (["{toy}", "{toy}"], "a second model called toy"),
        (["a/b={toy}"], "no name of a model"),
        (["no-such-directory"], "no such model directory"),
    ],
)
def test_models_that_cannot_be_served(toy, capsys, models, message):
    assert main(["serve", "--model", *(one.format(toy=toy) for one in models)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
