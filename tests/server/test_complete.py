"""POST /v1/complete."""

import shutil

import pytest

from phrasebeam import Decoder, Input, Request
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.server.app import create_app
from phrasebeam.server.routes.complete import rest_of
from tests.server.conftest import client_of


def test_completions_are_those_of_the_decoder(client, toy):
    decoder = Decoder.load(toy)
    for typed, partial in [("", True), ("s t", True), ("s t ", True), ("x y unknown", False)]:
        body = {"text": "a b c", "prefix": typed, "k": 3, "partial_word": partial}
        answer = client.post("/v1/complete", json=body).json()
        given = Input("a b c", prefix=Prefix.read(typed, partial))
        expected = decoder.answer(given, Request(3, distinct=True)).nbest
        assert [one["text"] for one in answer["completions"]] == [one.text for one in expected]
        for one in answer["completions"]:
            assert f"{typed}{one['rest']}".split() == one["text"].split()


def test_the_first_completion_is_that_of_a_model_with_its_own_risk(toy, tmp_path):
    """Decoder.complete and translate --prefix give the same."""
    shutil.copytree(toy, tmp_path / "model")
    (tmp_path / "model" / "search.yaml").write_text("mbr: {size: 50, scale: 0.01}\n")
    decoder, differing = Decoder.load(tmp_path / "model"), 0
    with client_of(create_app({"toy": tmp_path / "model"}, threads=1)) as client:
        for text in ("a b c", "b a", "c b a b", "a a b c"):
            answer = client.post("/v1/complete", json={"text": text, "prefix": "", "k": 3}).json()
            texts = [one["text"] for one in answer["completions"]]
            assert texts[0] == decoder.complete(text, "", True).text and len(set(texts)) == len(texts)
            differing += texts[0] != decoder.nbest(text, 1)[0].text
    assert differing > 0


def test_raw_text(client):
    body = {"model": "raw", "text": "A b, c.", "raw": True, "prefix": 'S "t', "k": 2}
    for one in client.post("/v1/complete", json=body).json()["completions"]:
        assert one["text"].startswith('S "t')
        assert body["prefix"] + one["rest"] == one["text"]


@pytest.mark.parametrize(
    ("text", "typed", "rest"),
    [
        ("the dog sleeps", "", "the dog sleeps"),
        ("the dog sleeps", "the", " dog sleeps"),
        ("the dog sleeps", "the ", "dog sleeps"),
        ("the dog sleeps", " the  do", "g sleeps"),
        ("the dog", "the dog", ""),
        ("the dog", "the dog barks", ""),
    ],
)
def test_the_rest(text, typed, rest):
    assert rest_of(text, typed) == rest
