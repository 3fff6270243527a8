"""POST /v1/complete."""

import pytest

from phrasebeam import Decoder, Input, Request
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.server.routes.complete import rest_of


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
