"""Bad requests of every kind: the answer is never a 5xx, and comes in time."""

import json
import xmlrpc.client

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phrasebeam.server.app import create_app
from phrasebeam.server.serving.server_settings import ServerLimits
from tests.server.conftest import client_of

LIMITS = ServerLimits(max_words=20, max_lines=5, max_nbest=10)
PARTS = ("method", "url", "headers", "params", "json")  # of a request; bodies of other kinds are below
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
WORDS = st.sampled_from(["a", "b", "x", "s", "|", "|||", "<", "<wall/>", "\u00a0", "\x00", "\ud800", "😀", "a\u0301"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=30)
NUMBERS = st.integers(-3, 12) | st.sampled_from([2**31, 2**63, 10**400, -1, 0.5, 1e308, float("nan"), float("inf")])
ANYTHING = st.none() | st.booleans() | NUMBERS | TEXTS
SOMETHING = ANYTHING | st.lists(ANYTHING, max_size=3) | st.dictionaries(TEXTS, ANYTHING, max_size=2)
MARKUP = st.sampled_from(['<x translation="s">a</x>', "<wall/>", "<zone>a b</zone>", "<x>", "</zone>", "a", "b c"])
TERMS = st.fixed_dictionaries(
    {"target": TEXTS}, optional=dict.fromkeys(("begin", "end", "probability"), NUMBERS) | {"source": TEXTS}
)
POLICIES = st.sampled_from(["exclusive", "inclusive", "constraint"])
SENTENCES = st.fixed_dictionaries(
    {"text": TEXTS | st.lists(TEXTS, max_size=4)},
    optional={
        "terms": st.lists(TERMS, max_size=3),
        "policy": POLICIES,
        "walls": st.lists(NUMBERS, max_size=3),
        "zones": st.lists(st.lists(NUMBERS, min_size=2, max_size=2), max_size=3),
        "prefix": TEXTS,
        "partial_word": st.booleans(),
    },
)
SWITCHES = {name: st.booleans() for name in ("distinct", "alignment", "phrases", "features", "mbr", "raw")}
BODIES = st.fixed_dictionaries(
    {"text": TEXTS | SENTENCES | st.lists(TEXTS | SENTENCES, max_size=4)},
    optional=SWITCHES
    | {"model": st.sampled_from(["toy", "raw", "none"]), "nbest": NUMBERS, "mbr_size": NUMBERS, "mbr_scale": NUMBERS},
)


@pytest.fixture(scope="module")
def client(toy, raw_toy):
    with client_of(create_app({"toy": toy, "raw": raw_toy}, threads=2, limits=LIMITS)) as client:
        yield client


@pytest.fixture(scope="module")
def operations(client):
    """The endpoints, as the OpenAPI page describes them."""
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    return [result.ok() for result in schema.get_all_operations()]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
@given(data=st.data())
@settings(max_examples=100, suppress_health_check=SHARED, deadline=20_000)
def test_what_the_openapi_page_allows_or_not(client, operations, mode, data):
    operation = operations[data.draw(st.integers(0, len(operations) - 1))]
    case = data.draw(operation.as_strategy(generation_mode=mode))
    request = case.as_transport_kwargs(base_url="http://localhost")
    answer = client.request(**{name: request[name] for name in PARTS if name in request})
    assert answer.status_code < 500


def post(client, path, body):
    """The answer, which is one line where it is an error."""
    answer = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, answer.text
    if answer.status_code != 200:
        assert list(answer.json()) == ["error"]
        assert "\n" not in answer.json()["error"]
    return answer


@given(body=BODIES)
@settings(max_examples=150, suppress_health_check=SHARED, deadline=20_000)
def test_translate(client, body):
    answer = post(client, "/v1/translate", body)
    if answer.status_code == 200:
        n = len(body["text"]) if isinstance(body["text"], list) else 1
        assert len(answer.json()["translations"]) == n


@given(
    text=st.lists(MARKUP, max_size=6).map(" ".join), markup=st.sampled_from(["exclusive", "inclusive", "constraint"])
)
@settings(max_examples=60, suppress_health_check=SHARED, deadline=20_000)
def test_markup(client, text, markup):
    post(client, "/v1/translate", {"text": text, "markup": markup, "nbest": 3})


@given(body=SENTENCES, k=NUMBERS, raw=st.booleans(), model=st.sampled_from(["toy", "raw"]))
@settings(max_examples=80, suppress_health_check=SHARED, deadline=20_000)
def test_complete(client, body, k, raw, model):
    post(client, "/v1/complete", {**body, "k": k, "raw": raw, "model": model})


@given(path=st.sampled_from(["/v1/translate", "/v1/complete", "/translate", "/detect"]), body=SOMETHING)
@settings(max_examples=60, suppress_health_check=SHARED, deadline=20_000)
def test_bodies_of_other_kinds(client, path, body):
    post(client, path, body)


@given(path=st.sampled_from(["/v1/translate", "/translate", "/detect", "/RPC2"]), body=st.binary(max_size=40))
@settings(max_examples=60, suppress_health_check=SHARED, deadline=20_000)
def test_bytes(client, path, body):
    for kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert client.post(path, content=body, headers={"Content-Type": kind}).status_code < 500


HTML = st.lists(st.sampled_from(["<b>", "</b>", "<br>", "<p>", "a", " b", "&lt;", "<", "<!--", "<svg>"]), max_size=8)


@given(
    q=TEXTS | st.lists(TEXTS, max_size=3) | HTML.map("".join),
    source=st.sampled_from(["de", "en", "auto"]),
    n=NUMBERS,
    html=st.booleans(),
)
@settings(max_examples=60, suppress_health_check=SHARED, deadline=20_000)
def test_libretranslate(client, q, source, n, html):
    values = {"q": q, "source": source, "target": "en", "alternatives": n, "format": "html" if html else "text"}
    post(client, "/translate", values)
    post(client, "/detect", {"q": q})


VALUES = st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.text(st.characters(exclude_categories=("Cs", "Cc")))


@given(
    parameters=st.dictionaries(
        st.sampled_from(["text", "align", "nbest", "nbest-distinct", "word-align", "add-score-breakdown", "sg"]),
        VALUES | st.lists(VALUES, max_size=2),
    )
)
@settings(max_examples=60, suppress_health_check=SHARED, deadline=20_000)
def test_moses(client, parameters):
    call = xmlrpc.client.dumps(({"text": "a b", **parameters},), "translate")
    answer = client.post("/RPC2", content=call.encode())
    assert answer.status_code == 200
    try:
        ((result,), _) = xmlrpc.client.loads(answer.content)
        assert isinstance(result["text"], str)
    except xmlrpc.client.Fault as fault:
        assert "\n" not in fault.faultString
