"""Documents opened over HTTP: their segments, suggestions for them, and the file with what was confirmed."""

from base64 import b64encode

import pytest

from phrasebeam.server.app import create_app
from tests.server.conftest import client_of

PO = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"

#, fuzzy
msgid "a b"
msgstr ""

msgid "c %s"
msgstr ""
"""
XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="de" target-language="en"
original="x" datatype="plaintext"><body><trans-unit id="1"><source>a <g id="1">b</g></source></trans-unit>
<trans-unit id="2"><source>c</source><target>done</target></trans-unit></body></file></xliff>
"""
TMX = """<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="de"/><body><tu>
<tuv xml:lang="de"><seg>a b x</seg></tuv><tuv xml:lang="en"><seg>s t neu</seg></tuv></tu></body></tmx>
"""


def sent(name, text, **more):
    return {"name": name, "content": b64encode(text.encode()).decode(), "model": "raw", **more}


def opened(client, name, text):
    answer = client.post("/v1/documents", json=sent(name, text))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_text(client):
    text = "A b.\n\nc d\n"
    found = opened(client, "x.txt", text)
    assert found["format"] == "text" and [one["text"] for one in found["segments"]] == ["A b.", "c d"]
    answer = client.post("/v1/documents/filled", json=sent("x.txt", text, translations={"1": "S t"}))
    assert answer.text == "A b.\n\nS t\n"
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''x.txt"
    wrong = client.post("/v1/documents/filled", json=sent("x.txt", text, translations={"2": "S t"}))
    assert wrong.status_code == 422 and "segment 2, but the document has 2" in wrong.json()["error"]


def test_sentences_of_text_are_segments_where_it_is_raw(client):
    text = "A b! C d?\n\n  b a!  D\n"
    assert [one["text"] for one in opened(client, "x.txt", text)["segments"]] == ["A b!", "C d?", "b a!", "D"]
    filled = client.post("/v1/documents/filled", json=sent("x.txt", text, translations={"1": "S?", "3": "v"}))
    assert filled.text == "A b! S?\n\n  b a!  v\n"
    tokens = client.post("/v1/documents", json=sent("x.txt", text) | {"model": "toy"}).json()
    assert [one["text"] for one in tokens["segments"]] == ["A b! C d?", "b a!  D"]


def test_what_is_confirmed_in_a_po_file_needs_no_review(client):
    found = opened(client, "x.po", PO)
    assert [one["text"] for one in found["segments"]] == ["a b", "c %s"]
    text = client.post("/v1/documents/filled", json=sent("x.po", PO, translations={"0": "s t"})).text
    assert 'msgstr "s t"' in text and "fuzzy" not in text


def test_tags_of_xliff_are_in_its_segments(client):
    found = opened(client, "x.xlf", XLIFF)
    assert found["translated"] == 1
    (segment,) = found["segments"]
    assert segment["is_xml"] and segment["text"] == 'a <g id="1">b</g>'
    suggested = client.post("/v1/suggestions", json={"model": "raw", **segment}).json()
    assert '<g id="1">' in suggested["text"]
    text = client.post("/v1/documents/filled", json=sent("x.xlf", XLIFF, translations={"0": suggested["text"]})).text
    assert 'state="translated"' in text and suggested["text"] in text
    wrong = client.post("/v1/documents/filled", json=sent("x.xlf", XLIFF, translations={"0": "<g>"}))
    assert wrong.status_code == 422 and wrong.json()["error"].startswith("x.xlf: ")


def test_pairs_of_a_memory(client):
    found = opened(client, "x.tmx", TMX)
    assert found["pairs"] == [{"source": "a b x", "translation": "s t neu"}] and found["segments"] == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.po", b'msgid "a', "x.po: "),
        ("x.xlf", b"<xliff", "x.xlf: "),
        (
            "x.xlf",
            b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><xliff version="1.2">&a;</xliff>',
            "entities",
        ),
        ("x.txt.gz", b"a", "compressed"),
        ("x.txt", b"\x1f\x8b\x08", "compressed"),
        ("x.tbx", b"<a/>", "x.tbx: is no document"),
        ("x.txt", b"\xff\xfe", "x.txt: "),
    ],
)
def test_bad_documents_are_refused_by_their_names(client, name, content, message):
    body = {"name": name, "content": b64encode(content).decode(), "model": "raw"}
    answer = client.post("/v1/documents", json=body)
    assert answer.status_code == 422 and message in answer.json()["error"] and "/tmp" not in answer.text


def test_content_is_base64(client):
    for content in ("%", "ä"):
        assert "base64" in client.post("/v1/documents", json={"name": "x", "content": content}).json()["error"]


def test_suggestions_know_what_was_confirmed(raw_toy, tmp_path):
    with client_of(create_app({"raw": raw_toy}, projects=tmp_path)) as client:
        assert client.get("/v1/projects").json() == {"model": "raw", "is_kept": True, "projects": []}
        ask = {"project": "mine", "text": "A b x c."}
        before = client.post("/v1/suggestions", json=ask).json()
        assert before["match"] is None and "x" in before["unknown"] and before["words"] == 5
        pair = {"project": "mine", "source": "A b x c.", "translation": "S t <g>neu</g>.", "raw": True, "is_xml": True}
        assert client.post("/v1/segments", json=pair).json()["translation"] == "s t neu ."
        after = client.post("/v1/suggestions", json=ask).json()
        assert after["match"]["similarity"] == 1 and "neu" in after["text"] and after["unknown"] == []
        asked = {"project": "mine", "text": "A b x d.", "raw": True, "confidences": True}
        (found,) = client.post("/v1/translate", json=asked).json()["translations"]
        similar = client.post("/v1/suggestions", json=ask | {"text": "A b x d."}).json()
        assert 0 < similar["match"]["similarity"] < 1 and similar["match"]["source"] == "a b x c ."
        doubtful = [one["confidence"] for one in similar["doubtful"]]  # of words, each as sure as its least sure token
        assert sorted(doubtful)[:1] == sorted(p for p in found["confidences"] if p < 0.5)[:1]
        assert all(one["word"] in similar["text"].split() for one in similar["doubtful"])
        assert client.get("/v1/projects").json()["projects"] == ["mine"]


def test_projects_are_for_those_who_have_the_token(raw_toy, tmp_path):
    with client_of(create_app({"raw": raw_toy}, projects=tmp_path, token="a-secret-of-many-letters")) as client:
        for path in ("/v1/projects", "/v1/segments?project=mine"):
            assert client.get(path).status_code == 401
