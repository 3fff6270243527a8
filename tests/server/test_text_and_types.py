"""Requests whose text is not UTF-8, and bodies that do not say what they are."""

import pytest

from phrasebeam.server.app import create_app
from tests.server.conftest import client_of
from tests.server.raw_client import exchange, request
from tests.server.running import running

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def projects(toy, raw_toy, tmp_path_factory):
    models = {"toy": toy, "raw": raw_toy}
    with client_of(create_app(models, projects=tmp_path_factory.mktemp("projects"))) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body", "shown"),
    [
        ("/translate", b"q=%ff%fe&source=de&target=en", r"b'\xff\xfe'"),
        ("/translate", b"q=a&source=de&target=en&api_key=%c3", r"b'\xc3'"),
        ("/translate", b"q=a&%e4=1", r"b'\xe4'"),
        ("/translate", b"q=\xe4&source=de&target=en", r"\xe4"),
        ("/detect", b"q=%ed%a0%80", r"b'\xed\xa0\x80'"),
    ],
)
def test_forms(client, path, body, shown):
    answer = client.post(path, content=body, headers=FORM)
    assert answer.status_code == 400
    assert "not UTF-8" in answer.json()["error"]
    assert shown in answer.json()["error"]
    assert client.post(path, content="q=%C3%A4&source=de&target=en", headers=FORM).status_code == 200


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/segments?project=%ff"),
        ("GET", "/v1/segments?project=p&model=%c3&limit=%a4"),
        ("GET", "/v1/segments/export?project=p&unknown=%fe"),
        ("DELETE", "/v1/segments/1?project=%80"),
        ("POST", "/RPC2/%ff"),
        ("GET", "/page/%ff"),
        ("GET", "/?%ff"),
    ],
)
def test_addresses(projects, method, target):
    answer = projects.request(method, target)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"the address '{target}")
    assert "not UTF-8" in answer.json()["error"]


def test_addresses_in_utf8(projects):
    assert projects.get("/v1/segments?project=p&model=%C3%A4").status_code == 404
    assert projects.get("/v1/segments?project=p&unknown=%C3%A4").status_code == 200


def test_addresses_with_bytes_above_ascii(toy):
    with running("--model", toy, "--max-idle", 0.2) as server:
        for target in ("/v1/segments?project=ä", "/ä"):
            assert exchange(server.url, request(target)).statuses == [400]


@pytest.mark.parametrize("path", ["/v1/translate", "/v1/complete", "/v1/explain", "/v1/force", "/v1/segments"])
@pytest.mark.parametrize("given", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_json_that_does_not_say_so(projects, path, given):
    headers = {"Content-Type": given} if given else {}
    answer = projects.post(path, content=b'{"text": "a", "project": "p"}', headers=headers)
    assert answer.status_code == 415
    found = f"the Content-Type '{given}'" if given else "no Content-Type"
    assert answer.json() == {"error": f"the request has {found}; send application/json"}


@pytest.mark.parametrize("path", ["/translate", "/detect"])
def test_bodies_for_libretranslate_that_are_of_no_type(client, path):
    answer = client.post(path, content=b'{"q": "a", "source": "de", "target": "en"}')
    assert answer.status_code == 415
    forms = "application/x-www-form-urlencoded or multipart/form-data"
    expected = f"the request has no Content-Type; send application/json or {forms}"
    assert answer.json() == {"error": expected}
