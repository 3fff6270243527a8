"""/v1/segments: what is confirmed is known to the next request of its project, listed, exported, undone, kept."""

import json

import pytest

from phrasebeam.server.app import create_app
from tests.server.conftest import client_of

MINE = {"project": "mine"}
PAIR = {"source": "a b x", "translation": "s t neu", **MINE}


@pytest.fixture
def app(toy, tmp_path):
    return create_app({"toy": toy}, projects=tmp_path / "projects")


def text_of(client, text, **more):
    return client.post("/v1/translate", json={"text": text, **more}).json()["translations"][0]["text"]


def test_the_next_sentence_knows_it(app, toy, tmp_path):
    with client_of(app) as client:
        before = text_of(client, "a b x")
        assert text_of(client, "a b x", **MINE) == before  # nothing is confirmed, and no file is made
        assert not (tmp_path / "projects").exists()
        found = client.post("/v1/segments", json=PAIR).json()
        assert found["number"] == 1 and found["source"] == "a b x" and found["translation"] == "s t neu"
        assert "neu" in text_of(client, "x", **MINE) and "neu" not in text_of(client, "x")
        assert "neu" not in text_of(client, "x", project="another")
        typed = text_of(client, "x", **MINE).partition("neu")[0] + "ne"
        completion = client.post("/v1/complete", json={"text": "x", "prefix": typed, **MINE}).json()
        assert "neu" in completion["completions"][0]["text"].split()
    with client_of(create_app({"toy": toy}, projects=tmp_path / "projects")) as client:  # the server starts again
        assert "neu" in text_of(client, "x", **MINE)


def test_explanations_are_of_what_the_project_has_learned(app):
    with client_of(app) as client:
        client.post("/v1/segments", json=PAIR)
        sentence = {"text": "a b x"}
        learned = client.post("/v1/translate", json=sentence | MINE).json()["translations"][0]
        assert "neu" in learned["text"]
        answer = client.post("/v1/explain", json=sentence | MINE).json()
        assert answer["text"] == answer["explanation"]["best"]["text"] == learned["text"]
        assert answer["explanation"]["best"]["score"] == pytest.approx(learned["score"])
        assert client.post("/v1/explain", json=sentence).json()["text"] == text_of(client, "a b x")
        given = sentence | {"translation": learned["text"]}
        known = client.post("/v1/force", json=given | MINE).json()["comparison"]
        assert known["verdict"] == "same" and known["translation"]["text"] == learned["text"]
        lacking = client.post("/v1/force", json=given).json()["comparison"]
        assert lacking["verdict"] == "missing pair" and "neu" in lacking["missing"]["unknown"]
        worse = client.post("/v1/force", json=sentence | {"translation": "s t neu u w w"} | MINE).json()["comparison"]
        assert worse["verdict"] in ("worse", "search error", "distortion limit"), worse
        assert client.post("/v1/explain", json=sentence | {"project": "no/name"}).status_code == 422


def test_list_export_and_undo(app):
    with client_of(app) as client:
        for key in ("one", "one", "two"):
            client.post("/v1/segments", json={**PAIR, "key": key})
        listed = client.get("/v1/segments", params=MINE).json()
        assert listed["total"] == 2 and [one["key"] for one in listed["segments"]] == ["one", "two"]
        part = client.get("/v1/segments", params={**MINE, "first": 1, "limit": 1}).json()
        assert [one["number"] for one in part["segments"]] == [2]
        lines = client.get("/v1/segments/export", params=MINE).text.splitlines()
        assert [json.loads(line)["number"] for line in lines] == [1, 2]
        assert client.delete("/v1/segments/1", params=MINE).json()["number"] == 1
        assert client.delete("/v1/segments/1", params=MINE).status_code == 404
        assert client.get("/v1/segments", params=MINE).json()["total"] == 1
        assert client.get("/v1/segments", params={"project": "none"}).json()["total"] == 0


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"project": "../mine"}, 422),
        ({"project": ""}, 422),
        ({"source": ""}, 422),
        ({"translation": "s\nt"}, 422),
        ({"source": "a " * 300}, 413),
        ({"model": "none"}, 404),
        ({"raw": True}, 422),
    ],
)
def test_bad_segments_are_refused(app, change, status):
    with client_of(app) as client:
        assert client.post("/v1/segments", json=PAIR | change).status_code == status


def test_a_server_without_projects_says_so(toy):
    with client_of(create_app({"toy": toy})) as client:
        explained = client.post("/v1/explain", json={"text": "a", **MINE})
        for answer in (client.post("/v1/segments", json=PAIR), client.get("/v1/segments", params=MINE), explained):
            assert answer.status_code == 404 and "--projects" in answer.text
