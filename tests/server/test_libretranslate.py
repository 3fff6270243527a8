"""LibreTranslate's interface, called by its Python client."""

import urllib.error

import pytest
from libretranslatepy import LibreTranslateAPI

from phrasebeam import Decoder, RawText
from tests.server.running import running


@pytest.fixture(scope="module")
def libre(toy, raw_toy):
    with running("--model", toy, raw_toy) as server:
        yield LibreTranslateAPI(server.url)


@pytest.fixture(scope="module")
def translated(raw_toy):
    """A function that translates a raw line."""
    decoder, raw_text = Decoder.load(raw_toy), RawText.load(raw_toy)
    return lambda line: raw_text.after(decoder.translate(raw_text.before(line)))


def test_the_client(libre, translated):
    assert libre.translate("A b, c.", "de", "en") == translated("A b, c.")
    assert libre.translate("A b\n\nc d", "de", "en") == "\n".join(map(translated, ("A b", "", "c d")))
    assert libre.languages() == [{"code": "de", "name": "German", "targets": ["en"]}]


def test_languages_are_detected_by_what_models_know(libre):
    assert libre.detect("d d d")[0] == {"confidence": 100.0, "language": "de"}
    assert libre.detect("s t s t")[0]["language"] == "en"
    assert libre.detect("1 2 3") == []
    with pytest.raises(urllib.error.HTTPError, match="400"):
        libre.translate("1 2 3", "auto", "en")


def test_json_with_several_texts(client, translated):
    body = {"q": ["a b", "c d"], "source": "auto", "target": "en", "alternatives": 2, "format": "text"}
    answer = client.post("/translate", json=body).json()
    assert answer["translatedText"] == [translated("a b"), translated("c d")]
    assert [one["language"] for one in answer["detectedLanguage"]] == ["de", "de"]
    assert all(len(some) <= 2 for some in answer["alternatives"])
    one = client.post("/translate", json={**body, "q": "a b", "source": "de"}).json()
    assert one == {"translatedText": answer["translatedText"][0], "alternatives": answer["alternatives"][0]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"source": "de", "target": "en"}, "q: Field required"),
        ({"q": "a", "source": "de", "target": "xx"}, "'de' to 'xx' is not supported"),
        ({"q": "a", "source": "de", "target": "en", "format": "html"}, "html"),
        ([], "valid dictionary"),
    ],
)
def test_bad_requests(client, body, message):
    answer = client.post("/translate", json=body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_forms_that_are_none(client):
    for data in (b"\xff=1", b'{"q":', b"[" * 100_000):
        for kind in ("application/json", "application/x-www-form-urlencoded"):
            assert client.post("/translate", content=data, headers={"Content-Type": kind}).status_code == 400
