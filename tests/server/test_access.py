"""Tokens, request ids, logs, metrics, the OpenAPI page, and what is none of the server's."""

import logging
import re
import time

import pytest

from phrasebeam.server.app import create_app
from tests.server.conftest import client_of
from tests.server.raw_client import connect, exchange, request
from tests.server.running import running

TOKEN = "0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CALL = b"<methodCall><methodName>system.listMethods</methodName></methodCall>"
PROTECTED = [
    ("POST", "/v1/translate"),
    ("POST", "/v1/complete"),
    ("GET", "/v1/models"),
    ("GET", "/metrics"),
    ("POST", "/RPC2"),
    ("POST", "/v1/explain"),
    ("POST", "/v1/force"),
    ("POST", "/RPC2/toy"),
    ("GET", "/v1/segments"),
    ("POST", "/v1/segments"),
    ("GET", "/v1/segments/export"),
    ("DELETE", "/v1/segments/{number}"),
    ("POST", "/translate"),
    ("POST", "/detect"),
    ("GET", "/languages"),
    ("GET", "/translate"),
    ("POST", "/suggest"),
    ("GET", "/v1/projects"),
    ("POST", "/v1/documents"),
    ("POST", "/v1/documents/filled"),
    ("POST", "/v1/suggestions"),
]


@pytest.fixture(scope="module")
def closed(raw_toy):
    with client_of(create_app({"raw": raw_toy}, token=TOKEN)) as client:
        yield client


@pytest.mark.parametrize(("method", "path"), PROTECTED)
def test_nothing_without_the_token(closed, method, path):
    has_key_in_body = method == "POST" and path in ("/translate", "/detect", "/suggest")
    body = {"q": "a", "s": "b", "source": "de", "target": "en"} if has_key_in_body else None
    for headers in ({}, {"Authorization": "Bearer other"}, {"Authorization": "Basic eDp5"}):
        answer = closed.request(method, path, json=body, headers=headers)
        assert answer.status_code == 401
        assert "token" in answer.json()["error"]
    content = {"content": CALL} if "RPC2" in path else {"json": body}
    assert closed.request(method, path, headers=BEARER, **content).status_code != 401


def test_all_other_endpoints_want_the_token(closed):
    paths = closed.get("/openapi.json").json()["paths"]
    found = {(method.upper(), path.replace("{model}", "toy")) for path, some in paths.items() for method in some}
    assert found - {*PROTECTED} == {("GET", "/health"), ("GET", "/frontend/settings")}
    assert closed.get("/health").status_code == 200


def test_the_key_of_libretranslate_is_the_token(closed):
    body = {"q": "a", "source": "de", "target": "en", "api_key": TOKEN}
    assert closed.post("/translate", json=body).status_code == 200
    assert closed.post("/translate", data=body).status_code == 200
    assert closed.post("/translate", json={**body, "api_key": "é"}).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/page/app.js",
        "/docs",
        "/openapi.json",
        "/health",
        "/metrics",
        "/languages",
        "/v1/models",
        "/nothing",
        "/translate",
    ],
)
def test_head_is_get_without_a_body(client, path):
    head, get = client.head(path), client.get(path)
    assert head.status_code == get.status_code
    assert head.content == b""
    own = {"x-request-id"} | ({"content-length"} if path == "/metrics" else set())
    assert {one for one in head.headers.items() if one[0] not in own} == {
        one for one in get.headers.items() if one[0] not in own
    }


def test_metrics_of_head(client):
    client.head("/health")
    assert 'phrasebeam_requests_total{method="HEAD",path="/health",status="200"}' in client.get("/metrics").text


def test_head_wants_the_token(closed):
    assert closed.head("/languages").status_code == 401


def test_ids_and_logs(client, caplog):
    with caplog.at_level(logging.INFO, "phrasebeam"):
        given = client.post("/v1/translate", json={"text": "a"}, headers={"X-Request-ID": "of-a.proxy_1"})
        assert given.headers["X-Request-ID"] == "of-a.proxy_1"
        made = client.get("/nothing%0Athere", headers={"X-Request-ID": "two words"})
    assert re.fullmatch("[0-9a-f]{16}", made.headers["X-Request-ID"])
    assert made.json() == {"error": "Not Found"}
    first, second = [record.getMessage() for record in caplog.records if record.name == "phrasebeam"]
    assert first.startswith("of-a.proxy_1 POST /v1/translate 200 ")
    assert second.startswith(f"{made.headers['X-Request-ID']} GET /nothing\\nthere 404 ")


def test_metrics(client):
    before = client.get("/metrics").text
    client.post("/v1/translate", json={"text": ["a b", "c"]})
    client.get("/a-path-of-somebody-who-tries-many")
    after = client.get("/metrics").text

    def value(text, name):
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)), 0.0)

    sentences, words = 'phrasebeam_sentences_total{model="toy"}', 'phrasebeam_words_total{model="toy"}'
    assert value(after, sentences) == value(before, sentences) + 2
    assert value(after, words) == value(before, words) + 3
    assert value(after, 'phrasebeam_requests_total{method="POST",path="/v1/translate",status="200"}') > 0
    assert 'path="other",status="404"' in after
    assert "somebody" not in after
    assert value(after, "process_resident_memory_bytes") > 0
    assert 'phrasebeam_model{model="toy",version=' in after


def test_the_openapi_page_needs_no_network(client):
    page = client.get("/docs").text
    parts = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert parts
    for part in parts:
        assert part.startswith("/static-offline-docs/")
        assert client.get(part).status_code == 200


@pytest.mark.parametrize("name", ["../toy", "/etc", "toy/../toy", "..", "toy\0", "~"])
def test_names_of_models_are_no_paths(client, name):
    answer = client.post("/v1/translate", json={"text": "a", "model": name})
    assert answer.status_code == 404
    assert "expected one of toy, raw" in answer.json()["error"]


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/static-offline-docs/../app.py", "/RPC2/%2e%2e%2fetc", "http://localhost//etc"]
)
def test_paths_of_files_are_none(client, path):
    assert client.get(path).status_code in (404, 405)


def test_token_files(tmp_path, toy, capsys):
    from phrasebeam.cli import main

    for text in ("", "short", "two words of a token", "a" * 20 + "\n" + "b" * 20):
        (tmp_path / "token").write_text(text)
        assert main(["serve", "--model", str(toy), "--token-file", str(tmp_path / "token")]) == 2
        error = capsys.readouterr().err
        assert "expected one line, a token" in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(("method", "path"), PROTECTED)
def test_the_token_comes_before_the_body(closed, method, path):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer another token"}
    for content in (b"{", b"\xff", b" " * 2**21):
        assert closed.request(method, path, content=content, headers=headers).status_code == 401
    assert closed.request(method, f"{path}?project=%ff", headers=headers).status_code == 401


def test_no_body_is_waited_for_without_the_token(raw_toy, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    with running("--model", raw_toy, "--token-file", tmp_path / "token", "--max-idle", 1) as server:
        for path in ("/v1/translate", "/RPC2", "/nothing"):
            head = request(path, "Content-Type: application/json", body=b" " * 2**20)[: -(2**20)]
            with connect(server.url, seconds=20) as connection:
                start = time.monotonic()
                connection.sendall(head)
                assert b" 401 " in connection.recv(1000)
                assert time.monotonic() - start < 0.9  # before the server gives up waiting
            for connection_header in ("Connection: close", "Connection: keep-alive"):
                whole = request(path, connection_header, body=b" " * 2**20)
                assert exchange(server.url, whole).statuses == [401]
        with_key = request("/translate", "Authorization: Bearer another token", body=b" " * 2**20)
        assert exchange(server.url, with_key[: -(2**20)]).statuses == [401]
