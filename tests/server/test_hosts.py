"""Names by which a server without a token may be called: no web page can bring a browser to ask it by another."""

import pytest

from phrasebeam.cli import main
from phrasebeam.server.app import create_app
from tests.server.conftest import client_of
from tests.server.raw_client import exchange, request
from tests.server.running import running
from tests.server.test_access import PROTECTED, TOKEN

ROUTES = [*PROTECTED, ("GET", "/health"), ("GET", "/"), ("GET", "/page/app.js"), ("GET", "/docs"), ("GET", "/nothing")]
ALLOWED = [
    "localhost",
    "LOCALHOST:80",
    "127.0.0.1",
    "127.0.0.1:8911",
    "[::1]",
    "[::1]:8000",
    "10.1.2.3:80",
    "a.example:1",
]
OTHERS = ["evil.example", "localhost.evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost@evil"]
OTHERS += ["localhost:80:80", "localhost:x", "[localhost]:80", "::1", "[::1", "", "b.example", "127.0.0.1, localhost"]


@pytest.fixture(scope="module")
def named(toy, tmp_path_factory):
    projects = tmp_path_factory.mktemp("projects")
    with client_of(create_app({"toy": toy}, projects=projects, hosts=["A.example"])) as client:
        yield client


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_other_hosts_are_refused_everywhere(named, method, path):
    answer = named.request(method, path, headers={"Host": "evil.example:8000", "Origin": "http://evil.example:8000"})
    assert answer.status_code == 421
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith("the request has the Host 'evil.example:8000'; ")
    assert "\n" not in answer.json()["error"]


def test_a_page_of_another_name_neither_reads_nor_writes(named):
    evil = {"Host": "evil.example"}
    segment = {"project": "p", "source": "a", "translation": "s"}
    assert named.post("/v1/segments", json=segment, headers=evil).status_code == 421
    assert named.get("/v1/segments/export?project=p").text == ""
    assert named.post("/v1/segments", json=segment).status_code == 200
    assert named.get("/v1/segments/export?project=p", headers=evil).status_code == 421
    assert named.delete("/v1/segments/1?project=p", headers=evil).status_code == 421
    assert named.get("/v1/segments?project=p").json()["total"] == 1


def test_hosts(named):
    found = {host: named.get("/health", headers={"Host": host}).status_code for host in ALLOWED + OTHERS}
    assert found == dict.fromkeys(ALLOWED, 200) | dict.fromkeys(OTHERS, 421)


def test_with_a_token_any_host_is(toy):
    with client_of(create_app({"toy": toy}, token=TOKEN)) as client:
        bearer = {"Authorization": f"Bearer {TOKEN}", "Host": "mt.example"}
        assert client.get("/v1/models", headers=bearer).status_code == 200


def test_none_two_and_those_of_options(toy):
    options = "--allowed-host", "mt.example", "--allowed-host", "b.example", "--max-idle", 0.2
    with running("--model", toy, *options) as server:
        by_header = {
            None: [421],
            "localhost\r\nHost: localhost": [421],
            "localhost\r\nHost: evil.example": [421],
            "mt.example": [200],
            "b.example:80": [200],
            "c.example": [421],
        }
        found = {host: exchange(server.url, request("/health", host=host)).statuses for host in by_header}
        assert found == by_header


@pytest.mark.parametrize("name", ["http://mt.example", "mt.example:80", "*", "", "bücher.example"])
def test_what_is_no_name(toy, capsys, name):
    assert main(["serve", "--model", str(toy), "--allowed-host", name]) == 2
    error = capsys.readouterr().err
    assert "expected a name such as mt.example" in error
    assert error.count("\n") == 1
