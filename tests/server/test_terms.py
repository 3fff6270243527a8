"""Term bases of a server: their translations count in all requests to a model."""

import os

import pytest

from phrasebeam.api.serve import serve
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.server.app import create_app
from phrasebeam.server.serving.served_models import ServedModels
from tests.server.conftest import client_of

OLD, NEW = "Neues Wort", "Anderes"


@pytest.fixture
def terms(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text(f"b\t{OLD}\n", encoding="utf-8")
    return path


def test_all_requests_have_their_translations(toy, raw_toy, terms):
    with client_of(create_app(ServedModels({"toy": toy, "raw": raw_toy}, terms={"raw": terms}))) as client:

        def post(path, **body):
            return client.post(path, json=body).json()

        assert OLD in post("/v1/translate", model="raw", raw=True, text="a b c")["translations"][0]["text"]
        assert OLD not in post("/v1/translate", model="toy", text="a b c")["translations"][0]["text"]
        assert OLD.lower() in str(post("/v1/explain", model="raw", raw=True, text="a b c")).lower()
        assert OLD in post("/translate", q="a b c", source="de", target="en")["translatedText"]
        html = post("/translate", q="<p>a <b>b</b> c</p>", source="de", target="en", format="html")["translatedText"]
        assert f"<b>{OLD}</b>" in html
        # What a request says of the same words counts before
        own = {"text": "a b c", "terms": [{"source": "b", "target": "Mein"}]}
        translation = post("/v1/translate", model="raw", raw=True, text=own)["translations"][0]["text"]
        assert "Mein" in translation and OLD not in translation
        found = post("/v1/complete", model="raw", raw=True, text="a b c", prefix="Neues W", partial_word=True)
        assert all(one["text"].startswith("Neues W") for one in found["completions"])


def test_an_edit_is_taken_up(toy, terms, caplog):
    served = ServedModels({"toy": toy}, terms={"toy": terms})
    before = served.get()
    for text, expected in ((f"b\t{NEW}\n", NEW), ("b\n", NEW)):
        terms.with_suffix(".new").write_text(text, encoding="utf-8")
        os.replace(terms.with_suffix(".new"), terms)
        for _ in range(2):
            served.refresh()
        assert [one.targets for one in served.get().terms.found("a b")] == [(expected,)]
    assert [one.targets for one in before.terms.found("a b")] == [(OLD,)]
    assert caplog.text.count("cannot be opened") == 1


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("other=x.tsv", ConfigError, "--terms other=x.tsv: no model 'other', expected one of toy"),
        (["x.tsv", "toy=y.tsv"], ConfigError, "--terms: the model toy has two files of terms, expected one"),
        ("broken.tsv", FormatError, "broken.tsv:1: 1 column"),
        ("missing.tsv", OSError, "missing.tsv"),
    ],
)
def test_what_is_refused(toy, tmp_path, monkeypatch, given, error, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.tsv").write_text("a\n", encoding="utf-8")
    with pytest.raises(error, match=message):
        serve(toy, terms=given)
