"""LibreTranslate's interface, called by its Python client."""

import re
import urllib.error
from html import escape, unescape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libretranslatepy import LibreTranslateAPI

from phrasebeam import Decoder, RawText
from phrasebeam.cli import main
from phrasebeam.server.app import create_app
from phrasebeam.server.serving.languages import LanguagePair, named_languages
from phrasebeam.server.serving.served_models import ServedModels
from tests.server.conftest import client_of
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
    assert libre.translate("\n\n  A b\t\n", "de", "en") == f"\n\n  {translated('A b')}\t\n"
    english = {"code": "en", "name": "English", "targets": []}  # nothing is translated from it
    assert libre.languages() == [{"code": "de", "name": "German", "targets": ["en"]}, english]


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
        ({"q": "a", "source": "de", "target": "en", "format": "odt"}, "send format text or html"),
        ({"q": "a", "source": "zh-Hans", "target": "en"}, "'zh-Hans' to 'en' is not supported"),
        ({"q": "a", "source": "s", "target": "v"}, "those of toy, which its option --languages says"),
        ([], "valid dictionary"),
    ],
)
def test_bad_requests(client, body, message):
    answer = client.post("/translate", json=body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_forms_that_are_none(client):
    kinds = (
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
    )
    for data in (b"\xff=1", b"q=%ff&source=de&target=en", b'{"q":', b"[" * 100_000, b"--x\r\n\r\na\r\n--x--"):
        for kind in kinds:
            assert client.post("/translate", content=data, headers={"Content-Type": kind}).status_code == 400


def test_values_as_clients_send_them(client, translated):
    values = {"q": "A b, c & d", "source": "de", "target": "en", "format": "text", "api_key": ""}
    expected = {"translatedText": translated(values["q"])}
    assert client.post("/translate", json={**values, "format": None}).json() == expected
    assert client.post("/translate", data=values).json() == expected
    assert client.post("/translate", params=values).json() == expected
    assert client.post("/translate", files={name: (None, value) for name, value in values.items()}).json() == expected
    assert client.post("/translate", params={**values, "q": "x"}, data={"q": values["q"]}).json() == expected
    assert client.post("/detect", params={"q": "d d d"}).json()[0]["language"] == "de"
    several = client.post("/translate", data={**values, "q": ["a", "b"]}).json()
    assert several == {"translatedText": [translated("a"), translated("b")]}


@pytest.mark.parametrize(
    ("source", "target"), [("de-DE", "en-US"), ("DE", "EN_gb"), ("de_Latn-AT", "en"), ("de", "en-x-a")]
)
def test_the_nearest_languages(client, translated, source, target):
    body = {"q": "a b", "source": source, "target": target}
    assert client.post("/translate", json=body).json() == {"translatedText": translated("a b")}
    detected = client.post("/translate", json={**body, "source": "auto"}).json()["detectedLanguage"]
    assert detected["language"] == "de"


def test_placeholders_and_tags_of_text_stay(client):
    text = "a <b>b</b> c. %s {0} {{name}} %1$s &amp; d\n<i>a</i>"
    body = {"q": text, "source": "de", "target": "en", "alternatives": 2}
    answer = client.post("/translate", json=body).json()
    for one in (answer["translatedText"], *answer["alternatives"]):
        markup = re.compile(r"</?[bi]>|%s|\{0\}|\{\{name\}\}|%1\$s|&amp;|\n")
        assert sorted(markup.findall(one)) == sorted(markup.findall(text))
    long = client.post("/translate", json={**body, "q": "<br>" * 1500})
    assert long.status_code == 413


def test_frontend_settings(client, toy):
    settings = client.get("/frontend/settings").json()
    german, english = {"code": "de", "name": "German"}, {"code": "en", "name": "English"}
    assert settings.pop("charLimit") > 10_000
    assert settings.pop("frontendTimeout") > 0
    assert settings == {
        "apiKeys": False,
        "keyRequired": False,
        "suggestions": False,
        "filesTranslation": False,
        "supportedFilesFormat": [],
        "language": {"source": german, "target": english},
    }
    with client_of(create_app({"toy": toy}, token="0123456789abcdef")) as closed:
        settings = closed.get("/frontend/settings").json()
    assert settings["keyRequired"]
    assert settings["language"]["source"]["code"] == "und"


def test_what_it_can_do(client):
    assert client.get("/spec").json() == client.get("/openapi.json").json()
    answer = client.post("/translate_file", files={"file": ("a.txt", b"a b")}, data={"source": "de", "target": "en"})
    assert (answer.status_code, "send documents to /v1/documents" in answer.text) == (403, True)


def test_html(client, translated):
    body = {"q": "", "source": "de", "target": "en", "format": "html"}

    def html(text):
        return client.post("/translate", json={**body, "q": text}).json()["translatedText"]

    assert html('<p class="d">a <b>b</b></p>\n<script>a b</script>').startswith('<p class="d">')
    assert html("<h1>a b</h1> <p>c d.<!-- d -->") == f"<h1>{translated('a b')}</h1> <p>{translated('c d.')}<!-- d -->"
    assert html("a &amp; b&lt;") == escape(translated("a & b<"), quote=False)
    assert html("  \n<br>") == "  \n<br>"
    answer = client.post(
        "/translate", json={**body, "q": ["<p>a b</p>", "c d"], "source": "auto", "alternatives": 2}
    ).json()
    assert [one["language"] for one in answer["detectedLanguage"]] == ["de", "de"]
    assert all(one.startswith("<p>") and one.endswith("</p>") for one in answer["alternatives"][0])
    many = client.post("/translate", json={**body, "q": "a" + "<b>a" * 1001})
    assert many.status_code == 413
    assert "tags in a sentence" in many.json()["error"]


INLINE = st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", " a", " b c", " d,", "&amp;", "."]), max_size=12).map(
    "".join
)


@given(html=INLINE)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=20_000)
def test_html_is_the_plain_translation_with_tags(client, html):
    body = {"source": "de", "target": "en"}
    made = client.post("/translate", json={**body, "q": html, "format": "html"}).json()["translatedText"]
    plain = " ".join(unescape(re.sub("<[^>]*>", "", html)).split())
    text = client.post("/translate", json={**body, "q": plain}).json()["translatedText"]
    assert unescape(re.sub("<[^>]*>", "", made)).split() == text.split()
    assert sorted(re.findall("<[^>]*>", made)) == sorted(re.findall("<[^>]*>", html))


def test_a_model_of_tokenized_text(toy, raw_toy):
    languages = named_languages(["toy=zh_Hans:en"], ["toy"])
    with client_of(create_app(ServedModels({"toy": toy}, languages))) as client:
        assert client.get("/languages").json()[0] == {"code": "zh-Hans", "name": "Chinese (Hans)", "targets": ["en"]}
        assert client.get("/v1/models").json()["models"][0]["source_language"] == "zh-Hans"
        body = {"q": " a b\n<wall/> c", "source": "zh-hans-CN", "target": "en"}
        decoder = Decoder.load(toy)
        expected = f" {decoder.translate('a b')}\n{decoder.translate('<wall/> c')}"
        assert client.post("/translate", json=body).json()["translatedText"] == expected
        assert (
            client.post("/translate", json={**body, "source": "auto"}).json()["detectedLanguage"]["language"]
            == "zh-Hans"
        )
        html = client.post("/translate", json={**body, "q": "<b>a b</b>", "format": "html"}).json()
        assert html == {"translatedText": f"<b>{decoder.translate('a b')}</b>"}
        assert client.post("/translate", json={**body, "source": "zh"}).json()["translatedText"] == expected
        assert client.post("/translate", json={**body, "source": "ja"}).status_code == 400
    with client_of(create_app(ServedModels({"toy": toy, "raw": raw_toy}, {"toy": LanguagePair("de", "en")}))) as client:
        assert client.post("/translate", json={"q": "A,", "source": "de", "target": "en"}).json() == {
            "translatedText": RawText.load(raw_toy).after(Decoder.load(raw_toy).translate("a ,"))
        }


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("toy=de", "expected NAME=SOURCE:TARGET"),
        ("toy=auto:en", "expected NAME=SOURCE:TARGET"),
        ("other=de:en", "no model 'other', expected one of toy"),
        ("de:en", "expected NAME=SOURCE:TARGET"),
    ],
)
def test_bad_languages(toy, capsys, option, message):
    assert main(["serve", "--model", f"toy={toy}", "--languages", option]) == 2
    assert message in (error := capsys.readouterr().err)
    assert error.count("\n") == 1


def test_languages_by_option(toy):
    with running("--model", f"toy={toy}", "--languages", "toy=de:en") as server:
        assert LibreTranslateAPI(server.url).translate("a b", "de-AT", "en") == Decoder.load(toy).translate("a b").text


def test_paragraphs_are_divided_into_sentences(client, translated):
    text = "  A b! C d?\n\nb a!  D"
    body = {"q": text, "source": "de", "target": "en"}
    first, second, third, last = map(translated, ("A b!", "C d?", "b a!", "D"))
    assert client.post("/translate", json=body).json()["translatedText"] == f"  {first} {second}\n\n{third}  {last}"
    html = client.post("/translate", json={**body, "q": "<p>A b! C <b>d</b>?</p>", "format": "html"}).json()
    assert html["translatedText"].startswith(f"<p>{first} ") and html["translatedText"].count("<b>") == 1


def test_sentences_beyond_the_limit_of_words_are_divided(client):
    body = {"q": "a b, " * 150 + "c!", "source": "de", "target": "en"}
    answer = client.post("/translate", json=body)
    assert answer.status_code == 200 and len(answer.json()["translatedText"].split()) > 150
    many = client.post("/translate", json={**body, "q": "Ab c! " * 300})
    assert many.status_code == 413 and "300 sentences, at most 200" in many.json()["error"]
    tags = client.post("/translate", json={**body, "q": "a <b>b</b> " * 1001, "format": "html"})
    assert tags.status_code == 413 and "1001 tags in a sentence, at most 1000" in tags.json()["error"]
