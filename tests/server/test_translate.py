"""POST /v1/translate, against the decoder itself."""

import pytest

from phrasebeam import Decoder, Request


@pytest.fixture(scope="module")
def decoder(toy):
    return Decoder.load(toy)


def test_one_text_and_many(client, decoder):
    texts = ["a b", "", "c d a", "unknown b"]
    expected = [decoder.translate(text) for text in texts]
    answer = client.post("/v1/translate", json={"text": texts}).json()
    assert answer["model"] == "toy"
    assert [one["text"] for one in answer["translations"]] == [one.text for one in expected]
    assert [one["score"] for one in answer["translations"]] == [one.score for one in expected]
    one = client.post("/v1/translate", json={"text": texts[0]}).json()
    assert one["translations"] == answer["translations"][:1]


def test_all_details(client, decoder):
    body = {"text": ["a", "b", "c"], "nbest": 3, "features": True, "phrases": True, "alignment": True}
    answer = client.post("/v1/translate", json={**body, "text": {"text": body["text"]}}).json()["translations"][0]
    expected = decoder.answer("a b c", Request(n=3)).nbest
    assert [one["text"] for one in answer["nbest"]] == [one.text for one in expected]
    assert answer["nbest"][-1]["features"] == expected[-1].features
    assert answer["alignment"] == [list(point) for point in expected[0].alignment]
    assert [one["source"] for one in answer["phrases"]] == [one.source for one in expected[0].phrases]


def test_errors_are_one_line(client):
    for body, status in [({}, 422), ({"text": "a", "model": "x"}, 404), ({"text": "a\nb"}, 422), ({"text": 1}, 422)]:
        answer = client.post("/v1/translate", json=body)
        assert answer.status_code == status
        assert list(answer.json()) == ["error"]
        assert "\n" not in answer.json()["error"]


def test_health_and_models(client):
    assert client.get("/health").json() == {"status": "ok"}
    model, other = client.get("/v1/models").json()["models"]
    assert (other["raw"], other["source_language"], other["target_language"]) == (True, "de", "en")
    assert model["name"] == "toy"
    assert model["features"]
