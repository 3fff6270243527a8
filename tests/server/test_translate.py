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


def test_confidences_of_tokens(client, decoder):
    body = {"text": ["a x b", ""], "nbest": 2, "confidences": True}
    answers = client.post("/v1/translate", json=body).json()["translations"]
    for answer, text in zip(answers, body["text"]):
        expected = decoder.answer(text, Request(n=2, confidence=decoder.confidence)).nbest
        for one, other in zip([answer, *answer["nbest"]], [expected[0], *expected]):
            assert one["confidences"] == list(other.confidences)
            assert len(one["confidences"]) == len(one["text"].split())
    raw = {"model": "raw", "raw": True, "text": "A b, c.", "confidences": True}
    (answer,) = client.post("/v1/translate", json=raw).json()["translations"]
    assert len(answer["confidences"]) == len(answer["tokens"].split())
    assert "confidences" not in client.post("/v1/translate", json={"text": "a"}).json()["translations"][0]


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


def test_terms_and_markup_in_raw_text(client):
    """The target of a term is written as it is given, whatever tokens it becomes."""
    term = {"source": "B", "target": "l\u2019IT"}
    body = {"model": "raw", "raw": True, "text": {"text": "A b, c.", "terms": [term]}, "nbest": 2}
    (answer,) = client.post("/v1/translate", json=body).json()["translations"]
    assert all("l\u2019IT" in one["text"] for one in [answer, *answer["nbest"]])
    assert "l&apos;it" in answer["tokens"].replace(" ", "")
    marked = {"model": "raw", "raw": True, "text": 'A <x translation="l\u2019IT">b</x>, c.', "markup": "exclusive"}
    (other,) = client.post("/v1/translate", json=marked).json()["translations"]
    assert (other["text"], other["source"]) == (answer["text"], answer["source"])
    completed = client.post("/v1/complete", json={"model": "raw", "raw": True, "text": "A b.", "terms": [term]}).json()
    assert "l\u2019IT" in completed["completions"][0]["text"]


def test_paragraphs(client):
    text, other = "A b! C d?\n\n  b a!", "c"
    body = {"model": "raw", "raw": True, "nbest": 2}
    single = client.post("/v1/translate", json={**body, "text": ["A b!", "C d?", "b a!", other]}).json()["translations"]
    answer = client.post("/v1/translate", json={**body, "text": [text, other], "paragraphs": True}).json()
    first, second = answer["translations"]
    assert answer["sentences"] == [single[:3], single[3:]] and "nbest" not in first
    a, b, c, d = (one["text"] for one in single)
    assert (first["text"], second["text"]) == (f"{a} {b}\n\n  {c}", d)
    assert first["score"] == pytest.approx(sum(one["score"] for one in single[:3]))


def test_terms_are_of_all_sentences_of_a_text(client):
    sentence = {"text": "A b! B a!", "terms": [{"source": "b", "target": "neu"}]}
    body = {"model": "raw", "raw": True, "paragraphs": True, "text": sentence}
    (answer,) = client.post("/v1/translate", json=body).json()["translations"]
    assert answer["text"].lower().count("neu") == 2


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        ({"raw": False}, 422, "paragraphs are for raw text"),
        ({"model": "toy", "raw": True}, 422, "paragraphs are for raw text"),
        ({"text": {"text": "a", "prefix": "x"}}, 422, "leave them out, or paragraphs"),
        ({"text": {"text": ["a"]}}, 422, "leave them out, or paragraphs"),
        ({"text": {"text": "a", "terms": [{"begin": 0, "end": 1, "target": "x"}]}}, 422, "leave them out"),
        ({"text": "Ab c!\n" * 201}, 413, "201 sentences, at most 200"),
    ],
)
def test_paragraphs_that_cannot_be(client, more, status, message):
    answer = client.post("/v1/translate", json={"model": "raw", "raw": True, "paragraphs": True, "text": "a", **more})
    assert answer.status_code == status and message in answer.json()["error"]
