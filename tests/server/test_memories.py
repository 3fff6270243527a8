"""Translation memories of a server: those in which projects find segments, and those of tools, which are watched."""

import os
import time
from pathlib import Path

import pytest

from phrasebeam.api.serve import serve
from phrasebeam.base.errors import ConfigError
from phrasebeam.server.app import create_app
from phrasebeam.server.serving.projects import Projects
from phrasebeam.server.serving.served_models import ServedModels
from phrasebeam.server.serving.watched_memories import KeptProjects, WatchedFile, WatchedMemories, watched_file
from tests.server.conftest import client_of


def test_projects_find_segments_of_memories(toy, tmp_path):
    (tmp_path / "team.tsv").write_text("a b x y\ts t neu\n", encoding="utf-8")
    kept = KeptProjects(tmp_path / "projects", {"toy": [tmp_path / "team.tsv"]})
    with client_of(create_app({"toy": toy}, projects=kept)) as client:

        def answer(text, **more):
            return client.post("/v1/translate", json={"text": text, **more}).json()["translations"][0]

        found = answer("a b x y", project="one")
        assert (found["text"], found["match"]["origin"], found["match"]["similarity"]) == ("s t neu", "team.tsv", 1)
        assert answer("a b x c", project="two")["match"]["similarity"] == 0.75
        assert "match" not in answer("a b x y")
        mine = {"project": "one", "source": "a b x y", "translation": "t s"}
        assert client.post("/v1/segments", json=mine).status_code == 200
        assert answer("a b x y", project="one")["text"] == "t s"
        assert answer("a b x y", project="one")["match"]["origin"] == ""
        assert answer("a b x y", project="two")["text"] == "s t neu"


@pytest.fixture
def watched(toy, tmp_path):
    """What a project has learned after its file was looked at twice, and the file."""
    models, projects, path = ServedModels({"toy": toy}), Projects(tmp_path / "projects"), tmp_path / "saved.tsv"
    memories = WatchedMemories([WatchedFile("toy", "mine", path)], models, projects)

    def learned(looks=2):
        for _ in range(looks):
            memories.look()
        return [(" ".join(one.source), " ".join(one.translation)) for one in projects.segments(models.get(), "mine")]

    yield learned, path
    projects.close()


def save(path, text):
    """Write a file as tools do: all at once, at another time than before."""
    path.with_suffix(".new").write_text(text, encoding="utf-8")
    if path.exists():
        os.utime(path.with_suffix(".new"), ns=(path.stat().st_mtime_ns + 10**9,) * 2)
    os.replace(path.with_suffix(".new"), path)


def test_what_a_tool_saves_is_learned(watched, caplog):
    learned, path = watched
    assert learned() == []
    save(path, "a b\ts\nx\tneu\n")
    assert learned(1) == []  # it may not be written to its end
    assert learned(1) == [("a b", "s"), ("x", "neu")]
    save(path, "a b\ts\nx\tanders\ny\tz\n")
    assert learned() == [("a b", "s"), ("x", "anders"), ("y", "z")]
    save(path, "y\tz\n")  # what is no longer there stays learned
    assert learned() == [("a b", "s"), ("x", "anders"), ("y", "z")]
    path.write_bytes(b"\xff\tx\n")
    assert len(learned()) == 3 and "nothing is learned from it now" in caplog.text
    save(path, "".join(f"w{i}\tu{i}\n" for i in range(40)))
    assert len(learned()) == 43
    path.unlink()
    assert len(learned()) == 43


def test_the_server_looks_at_files(toy, tmp_path):
    path = tmp_path / "saved.tsv"
    path.write_text("x\tneu\n", encoding="utf-8")
    kept = KeptProjects(tmp_path / "projects", watched=[WatchedFile("toy", "mine", path)])
    with client_of(create_app({"toy": toy}, projects=kept)) as client:
        for _ in range(100):
            found = client.get("/v1/segments", params={"project": "mine"}).json()
            if found["total"]:
                break
            time.sleep(0.2)
        assert [one["translation"] for one in found["segments"]] == ["neu"]


def test_arguments():
    assert watched_file("p=a.tmx", ["m", "n"]) == WatchedFile("m", "p", Path("a.tmx"))
    assert watched_file("n/p=a.tmx", ["m", "n"]).model == "n"
    for given in ("a.tmx", "p=", "/p=a.tmx/", "o/p=a.tmx", "p q=a.tmx", "p=a.doc"):
        with pytest.raises(ConfigError):
            watched_file(given, ["m"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tm": "a.tmx"}, "give --projects DIR"),
        ({"watch": "p=a.tmx"}, "give --projects DIR"),
        ({"tm": "other=a.tmx", "projects": "p"}, "no model 'other'"),
        ({"watch": "a.tmx", "projects": "p"}, "expected PROJECT=FILE"),
        ({"tm": "a.tmx", "projects": "p"}, "a.tmx"),
    ],
)
def test_options_that_cannot_be_used(toy, options, said):
    with pytest.raises((ConfigError, OSError), match=said):
        serve(toy, port=0, **options)
