"""POST /v1/explain and /v1/force, against the explainer itself; and the page's files."""

import re
from pathlib import Path

import pytest

from phrasebeam import Decoder
from phrasebeam.decoder.explanation.explainer import Explainer, ExplanationRequest
from phrasebeam.server.page_files import FOLDER


@pytest.fixture(scope="module")
def explainer(toy):
    return Explainer(Decoder.load(toy))


def test_explanations_are_those_of_the_explainer(client, explainer):
    answer = client.post("/v1/explain", json={"text": "a b c", "nbest": 3, "stacks": 2}).json()
    expected = explainer.explain("a b c", ExplanationRequest(nbest=3, stacks=2))
    assert answer["explanation"] == expected.model_dump(mode="json")
    assert (answer["model"], answer["text"]) == ("toy", expected.best.text)


def test_terms_and_prefixes_count(client):
    terms = [{"source": "b", "target": "zz"}]
    answer = client.post("/v1/explain", json={"text": "a b", "terms": terms}).json()
    assert "zz" in answer["text"].split()
    answer = client.post("/v1/explain", json={"text": "a b", "prefix": "q"}).json()
    assert answer["text"].startswith("q") and answer["explanation"]["stacks"] == []


def test_words_of_a_prefix_that_no_source_word_gives_have_no_alternatives(client):
    answer = client.post("/v1/explain", json={"text": "", "prefix": "q"}).json()
    (phrase,) = answer["explanation"]["best"]["phrases"]
    assert (phrase["target"], phrase["source_span"], phrase["alternatives"]) == ("q", [0, 0], [])


def test_comparisons_are_those_of_the_explainer(client, explainer):
    best = explainer.explain("a b c").best.text
    for translation in (best, "nothing like that", ""):
        answer = client.post("/v1/force", json={"text": "a b c", "translation": translation}).json()
        assert answer["comparison"] == explainer.compare("a b c", translation).model_dump(mode="json")


@pytest.mark.parametrize("path", ["/v1/explain", "/v1/force"])
def test_bad_requests_are_refused(client, path):
    good = {"text": "a", "translation": "t"} if path == "/v1/force" else {"text": "a"}
    assert client.post(path, json=good).status_code == 200
    bad = [({"model": "x"}, 404), ({"text": "a\nb"}, 422), ({"raw": True}, 422), ({"nbest": 0}, 422), ({"y": 1}, 422)]
    for change, status in [*bad, ({"text": "a " * 10_000}, 413)]:
        answer = client.post(path, json=good | change)
        assert (answer.status_code, list(answer.json())) == (status, ["error"]), change


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]* src=)|<style| on\w+=| style=", page.text)
    named = set(re.findall(r'(?:href|src)="(/page/[^"]+)"', page.text))
    scripts = [path for path in FOLDER.iterdir() if path.suffix == ".js"]
    imported = {f"/page/{name}" for path in scripts for name in re.findall(r'from "\./([^"]+)"', path.read_text())}
    assert {Path(name).name for name in named | imported} == {p.name for p in FOLDER.iterdir()} - {"index.html"}
    for name in named | imported:
        answer = client.get(name)
        assert answer.status_code == 200 and "default-src 'none'" in answer.headers["content-security-policy"]
    for path in FOLDER.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text, path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), path
