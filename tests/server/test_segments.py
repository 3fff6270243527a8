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
        assert worse["verdict"] == "missing pair"  # a sentence that was confirmed has its translation, no other
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


def confirm(client, word, **more):
    return client.post("/v1/segments", json={"source": "a b x", "translation": f"s t {word}", **MINE, **more})


def listed(client, project="mine"):
    """The last words of what a project has, by number."""
    lines = client.get("/v1/segments/export", params={"project": project}).text.splitlines()
    return {one["number"]: one["translation"].split()[-1] for one in map(json.loads, lines)}


def refusal(answer, status):
    """The error of an answer that tells no path of the server."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert "/" not in error and "\n" not in error
    return error


def test_nothing_is_answered_that_is_not_in_the_journal(app, toy, tmp_path):
    journal = tmp_path / "projects" / "toy" / "mine.journal"
    with client_of(app) as client:
        for number, word in enumerate(("eins", "zwei"), 1):
            assert confirm(client, word, key=word).json()["number"] == number
        backup = journal.read_bytes()

        journal.unlink()
        assert listed(client) == {} and "zwei" not in text_of(client, "x", **MINE)
        assert "removed, replaced or cut by another program" in refusal(confirm(client, "zwei", key="zwei"), 503)
        assert confirm(client, "drei", key="drei").json()["number"] == 1
        assert listed(client) == {1: "drei"}

        journal.rename(tmp_path / "moved")
        journal.write_bytes(backup)
        refusal(client.delete("/v1/segments/1", params=MINE), 503)
        assert confirm(client, "drei", key="drei").json()["number"] == 3
        assert listed(client) == {1: "eins", 2: "zwei", 3: "drei"} and "drei" in text_of(client, "x", **MINE)

        journal.write_bytes(b"")
        assert listed(client) == {} and "drei" not in text_of(client, "x", **MINE)
        assert confirm(client, "vier").json()["number"] == 1  # what was read before was the journal as it is
        journal.write_bytes(backup)
        refusal(confirm(client, "vier"), 503)
        assert listed(client) == {1: "eins", 2: "zwei"}
    with client_of(create_app({"toy": toy}, projects=tmp_path / "projects")) as client:
        assert listed(client) == {1: "eins", 2: "zwei"}


def test_a_journal_that_cannot_be_used_is_the_trouble_of_its_project_alone(app, toy, tmp_path):
    journal = tmp_path / "projects" / "toy" / "mine.journal"
    with client_of(app) as client:
        assert confirm(client, "eins").status_code == confirm(client, "neu", project="other").status_code == 200
        whole = journal.read_bytes()
        journal.write_bytes(b"notes")
        for _ in range(2):
            assert "line 1: the record is damaged, or this is no journal" in refusal(confirm(client, "zwei"), 503)
            refusal(client.get("/v1/segments", params=MINE), 503)
            refusal(client.post("/v1/translate", json={"text": "x", **MINE}), 503)
            refusal(client.delete("/v1/segments/1", params=MINE), 503)
        assert listed(client, "other") == {1: "neu"} and text_of(client, "x")
        assert journal.read_bytes() == b"notes"
        journal.unlink()
        journal.mkdir()
        assert "Is a directory" in refusal(confirm(client, "zwei"), 503)
        journal.rmdir()
        journal.write_bytes(whole)
        refusal(confirm(client, "zwei"), 503)
        assert confirm(client, "zwei").json()["number"] == 2
        with client_of(create_app({"toy": toy}, projects=tmp_path / "projects")) as second:
            assert refusal(confirm(second, "drei"), 409) == "project mine is open in another process"
            assert refusal(second.get("/v1/segments", params=MINE), 409)


@pytest.mark.parametrize("name", [".", "..", ".hidden", "-x", "+x", "", "a/b", "a" * 101])
def test_names_of_projects_begin_with_a_letter_a_digit_or_an_underscore(app, tmp_path, name):
    with client_of(app) as client:
        assert confirm(client, "neu", project=name).status_code == 422
        assert client.get("/v1/segments", params={"project": name}).status_code == 422
        assert client.post("/v1/translate", json={"text": "x", "project": name}).status_code == 422
        assert confirm(client, "neu", project="_x").status_code == confirm(client, "neu", project="0.x-").status_code
    assert sorted(path.name for path in (tmp_path / "projects" / "toy").iterdir()) == ["0.x-.journal", "_x.journal"]


def test_journals_of_names_that_no_project_has_are_told(toy, tmp_path, caplog):
    (tmp_path / "projects" / "toy").mkdir(parents=True)
    (tmp_path / "projects" / "toy" / "-x.journal").touch()
    create_app({"toy": toy}, projects=tmp_path / "projects")
    assert "-x.journal: cannot be used, rename it" in caplog.text
