"""Moses' XML-RPC, called as Moses' sample clients call it: with the client of Python's standard library."""

import xmlrpc.client

import pytest

from phrasebeam import Decoder, Request
from phrasebeam.decoder.output.rendering import render_nbest
from tests.server.running import running

ENTITIES = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "bb">]><methodCall><methodName>&a;</methodName></methodCall>'


@pytest.fixture(scope="module")
def server(toy, raw_toy):
    with running("--model", f"toy={toy}", f"raw={raw_toy}") as server:
        yield server


@pytest.fixture(scope="module")
def proxy(server):
    with xmlrpc.client.ServerProxy(f"{server.url}/RPC2") as proxy:
        yield proxy


@pytest.fixture(scope="module")
def decoder(toy):
    return Decoder.load(toy)


def test_the_sample_client(proxy, decoder):
    expected = decoder.translate("a b c")
    result = proxy.translate({"text": "a b c ", "align": "true", "report-all-factors": "false"})
    assert result["text"] == expected.text
    for phrase, span in zip(expected.phrases, result["align"], strict=True):
        assert (span["src-start"], span["src-end"] + 1) == phrase.source_span
        assert (span["tgt-start"], span["tgt-end"] + 1) == phrase.target_span
    assert proxy.translate({"text": "a b c", "align": False}) == {"text": expected.text}


def test_lists_and_word_alignment(proxy, decoder):
    asked = {"text": "a b c", "nbest": 4, "nbest-distinct": True, "word-align": True, "add-score-breakdown": True}
    result = proxy.translate(asked)
    expected = decoder.answer("a b c", Request(4, distinct=True)).nbest
    assert [one["hyp"] for one in result["nbest"]] == [one.text for one in expected]
    assert [one["totalScore"] for one in result["nbest"]] == pytest.approx([one.score for one in expected])
    names = decoder.model.moses_names
    lines = render_nbest(0, expected, False, False, names).splitlines()
    assert [one["fvals"] for one in result["nbest"]] == [line.split(" ||| ")[2] for line in lines]
    assert list(result["nbest"][0]["scores"]) == [one.name for one in names if one.size]
    points = [(one["source-word"], one["target-word"]) for one in result["word-align"]]
    assert points == expected[0].alignment


def test_another_model_by_its_path(server, raw_toy):
    with xmlrpc.client.ServerProxy(f"{server.url}/RPC2/raw") as proxy:
        assert proxy.translate({"text": "a b"})["text"] == Decoder.load(raw_toy).translate("a b").text
    with xmlrpc.client.ServerProxy(f"{server.url}/RPC2/none") as proxy, pytest.raises(xmlrpc.client.Fault) as raised:
        proxy.translate({"text": "a b"})
    assert "expected one of toy, raw" in raised.value.faultString


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({}, -503, "Missing source text"),
        ({"text": 1}, -501, "expected a string"),
        ({"text": "a\nb"}, -501, "several lines"),
        ({"text": "a", "sg": True}, -501, "translate --lattice-output"),
        ({"text": "a", "lambda": [0.5]}, -501, "lambda"),
        ({"text": "a", "nbest": "x"}, -501, "nbest"),
        ({"text": "a", "nbest": 100_000}, -501, "at most 200"),
        ({"text": "a " * 300}, -509, "300 words"),
    ],
)
def test_faults(proxy, given, code, message):
    with pytest.raises(xmlrpc.client.Fault, match=message) as raised:
        proxy.translate(given)
    assert raised.value.faultCode == code
    assert proxy.translate({"text": "a", "sg": False})


def test_other_methods(proxy):
    assert {"system.listMethods", "system.multicall", "translate"} <= {*proxy.system.listMethods()}
    for method, given in [("updater", {}), ("translate", 1)]:
        with pytest.raises(xmlrpc.client.Fault):
            getattr(proxy, method)(given)


@pytest.mark.parametrize("body", [b"", b"<a>", ENTITIES.encode(), ENTITIES.encode("utf-16"), b"\xff\xfe", b"<a/>" * 9])
def test_what_is_no_call(client, body):
    answer = client.post("/RPC2", content=body)
    assert answer.status_code == 200
    with pytest.raises(xmlrpc.client.Fault) as raised:
        xmlrpc.client.loads(answer.content)
    assert raised.value.faultCode == -503
