"""Requests as programs of others send them: scripts of web pages, Weblate, OmegaT, MateCat, curl, monitors."""

import gzip
import xmlrpc.client
from xmlrpc.client import dumps, loads

import pytest

from phrasebeam.cli import main
from phrasebeam.server.app import create_app
from phrasebeam.server.serving.cross_origin import Clients
from tests.server.conftest import client_of

PAGE = "https://pages.example"
SIDES = {"source": "de", "target": "en"}


def translated(client, text):
    return client.post("/translate", json={"q": text, **SIDES}).json()["translatedText"]


def preflight(client, path, origin=PAGE):
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    return client.options(path, headers=asked)


def test_scripts_of_any_page_may_translate_as_with_libretranslate(client):
    assert preflight(client, "/translate").headers["Access-Control-Allow-Origin"] == "*"
    answer = client.post("/translate", json={"q": "a b", **SIDES}, headers={"Origin": PAGE})
    assert answer.status_code == 200 and answer.headers["Access-Control-Allow-Origin"] == "*"
    assert client.get("/languages", headers={"Origin": PAGE}).headers["Access-Control-Allow-Origin"] == "*"
    refused = client.post("/translate", json={"q": "a b"}, headers={"Origin": PAGE})
    assert refused.status_code == 400 and refused.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", ["/v1/translate", "/v1/segments", "/suggest", "/RPC2"])
def test_other_endpoints_are_for_pages_that_are_allowed(client, toy, path):
    assert "Access-Control-Allow-Origin" not in preflight(client, path).headers
    with client_of(create_app({"toy": toy}, clients=Clients([PAGE]))) as allowing:
        assert preflight(allowing, path).headers["Access-Control-Allow-Origin"] == PAGE
        assert "Access-Control-Allow-Origin" not in preflight(allowing, path, "https://other.example").headers


def test_a_script_sees_that_the_token_is_missing(toy):
    app = create_app({"toy": toy}, token="a-secret-of-many-letters", clients=Clients(["*"]))
    with client_of(app) as client:
        assert preflight(client, "/v1/translate").status_code == 200
        refused = client.post("/v1/translate", json={"text": "a"}, headers={"Origin": PAGE})
        assert refused.status_code == 401 and refused.headers["Access-Control-Allow-Origin"] == "*"


def test_weblate(client):
    assert [one["code"] for one in client.get("/languages").json()] == ["de", "en"]
    sent = {"api_key": "", "q": ["A b.", "c d"], **SIDES}
    answer = client.post("/translate", json=sent).json()
    assert answer["translatedText"] == [translated(client, "A b."), translated(client, "c d")]


def test_omegat(client):
    """Its plug-ins send the text with the languages, as LibreTranslate asks for, some of them as HTML with its tags."""
    json_type = {"Content-Type": "application/json"}
    answer = client.post("/translate", content=b'{"q":"A b.","source":"de","target":"en"}', headers=json_type)
    assert answer.json()["translatedText"] == translated(client, "A b.")
    body = b'{"q":"A <b>b</b>.","source":"DE","target":"EN","format":"html","api_key":""}'
    answer = client.post("/translate", content=body, headers=json_type)
    assert "<b>" in answer.json()["translatedText"]


def test_matecat_gets_a_translation(client):
    answer = client.get(
        "/translate", params={"q": "A b.", "source": "de-DE", "target": "en-US", "key": "", "segid": "7"}
    )
    assert answer.json() == {"data": {"translations": [{"translatedText": translated(client, "A b.")}]}}
    assert client.get("/translate", params={"q": "a", "source": "de", "target": "xx"}).status_code == 400
    assert client.get("/translate", params={"q": "a", "target": "en"}).status_code == 400


def test_matecat_has_the_token_as_its_key(raw_toy):
    with client_of(create_app({"raw": raw_toy}, token="a-secret-of-many-letters")) as client:
        sent = {"q": "A b.", **SIDES}
        assert client.get("/translate", params=sent).status_code == 401
        assert client.get("/translate", params=sent | {"key": "a-secret-of-many-letters"}).status_code == 200


@pytest.fixture
def learning(raw_toy, tmp_path):
    app = create_app({"raw": raw_toy}, projects=tmp_path, clients=Clients(project="ours"))
    with client_of(app) as client:
        yield client


def test_suggestions_are_confirmed_for_the_project_of_clients(learning, client):
    assert learning.get("/frontend/settings").json()["suggestions"]
    before = translated(learning, "A b x.")
    answer = learning.post("/suggest", data={"q": "A b x.", "s": "S t neu.", **SIDES})
    assert answer.json() == {"success": True}
    assert translated(learning, "A b x.") != before and "neu" in translated(learning, "A b x.")
    assert learning.get("/v1/projects").json() == {"model": "raw", "is_kept": True, "projects": ["ours"]}
    assert not client.get("/frontend/settings").json()["suggestions"]
    assert "--project" in client.post("/suggest", data={"q": "a", "s": "b", **SIDES}).json()["error"]


def test_pages_of_others_cannot_suggest(learning):
    sent = {"q": "A b x.", "s": "S t neu.", **SIDES}
    refused = learning.post("/suggest", data=sent, headers={"Origin": PAGE})
    assert refused.status_code == 403 and "--cors-origin" in refused.json()["error"]
    assert learning.post("/suggest", data=sent, headers={"Origin": "http://localhost"}).status_code == 200


def test_answers_are_compressed_for_those_who_take_that(client):
    sent = {"text": "a b c d a b", "nbest": 20, "stacks": 10}
    plain = client.post("/v1/explain", json=sent, headers={"Accept-Encoding": "identity"})
    packed = client.post("/v1/explain", json=sent, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert packed.json() == plain.json()
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 3
    assert len(gzip.compress(plain.content)) > 1000


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/languages", "/docs", "/v1/models", "/page/app.js"])
def test_monitors_ask_by_head(client, path):
    head, whole = client.head(path), client.get(path)
    assert head.status_code == whole.status_code == 200 and head.content == b""
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


def called(client, method, *parameters):
    return loads(client.post("/RPC2/toy", content=dumps(parameters, method)).content)[0][0]


def test_xml_rpc_tells_of_its_methods(client):
    for name in called(client, "system.listMethods"):
        assert called(client, "system.methodHelp", name).endswith(".")
        assert called(client, "system.methodSignature", name)[0][0] in ("struct", "array", "string")
    with pytest.raises(xmlrpc.client.Fault, match="no method 'unknown'"):
        called(client, "system.methodHelp", "unknown")


def test_several_calls_at_once(client):
    calls = [{"methodName": "translate", "params": [{"text": text}]} for text in ("a b", "c")]
    wrong = {"methodName": "updater", "params": [{}]}
    first, fault, second = called(client, "system.multicall", [calls[0], wrong, calls[1]])
    assert first == [called(client, "translate", {"text": "a b"})] and second == [
        called(client, "translate", {"text": "c"})
    ]
    assert "no method 'updater'" in fault["faultString"]
    for given in ([{"methodName": "system.multicall", "params": [[]]}], [{}], "x"):
        with pytest.raises(xmlrpc.client.Fault, match="multicall"):
            called(client, "system.multicall", given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cors-origin", "pages.example"], "expected * or an origin"),
        (["--project", "ours"], "give --projects DIR, too"),
        (["--project", "../ours", "--projects", "p"], "a project is named by"),
    ],
)
def test_options_that_say_nothing(toy, options, message, capsys):
    assert main(["serve", "--model", str(toy), *options]) == 2
    assert message in capsys.readouterr().err
