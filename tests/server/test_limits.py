"""What is too much: each limit has a status, and a line that tells it."""

import threading

import pytest

from phrasebeam.server.app import create_app
from phrasebeam.server.serving.server_settings import ServerLimits
from tests.server.conftest import client_of
from tests.server.running import wait_until

ENDLESS = " ".join("abcd" * 20)  # for the model without limits of the search


@pytest.fixture(scope="module")
def small(toy):
    limits = ServerLimits(max_words=5, max_lines=3, max_bytes=1024, max_nbest=4)
    with client_of(create_app({"toy": toy}, limits=limits)) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"text": "a b c d a b"}, 413, "6 words in a sentence, at most 5"),
        ({"text": ["a"] * 4}, 413, "4 sentences, at most 3"),
        ({"text": {"text": "a", "prefix": "s " * 6}}, 413, "6 words in a prefix"),
        ({"text": {"text": "a", "terms": [{"source": "a", "target": "s " * 6}]}}, 413, "6 words in a term"),
        ({"text": "a", "nbest": 5}, 422, "nbest is 5, at most 4"),
        ({"text": "a", "mbr": True, "mbr_size": 5}, 422, "mbr_size is 5, at most 4"),
        ({"text": "a", "mbr_size": 2}, 422, "mbr_size and mbr_scale need mbr"),
        ({"text": "a", "distinct": True}, 422, "distinct needs nbest"),
        ({"text": "x" * 2000}, 413, "more than 1024 bytes"),
        ({"text": ["a", {"text": "b", "terms": [{"begin": 1, "end": 2, "target": "s"}]}]}, 422, "text[1]: "),
        ({"text": {"text": "a", "terms": [{"begin": 0, "target": "s"}]}}, 422, "give source, or begin and end"),
        ({"text": {"text": "a", "prefix": "s"}, "markup": "exclusive"}, 422, "markup is only for text without other"),
        ({"text": "a", "raw": True}, 422, "the model toy knows only tokenized text"),
        ({"text": "a", "unknown": 1}, 422, "unknown: Extra inputs are not permitted"),
    ],
)
def test_limits_of_a_request(small, body, status, message):
    answer = small.post("/v1/translate", json=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert small.post("/v1/translate", json={"text": "a"}).status_code == 200


def test_a_body_in_many_parts(small):
    answer = small.post("/v1/translate", content=iter([b" "] * 1100))
    assert answer.status_code == 413
    many = small.post("/v1/translate", content=iter([b" " * 1000] * 20))  # more than is read to be polite
    assert many.status_code == 413


@pytest.mark.needs_jit
def test_time_and_waiting_requests(slow_toy):
    limits = ServerLimits(max_seconds=1.5, max_waiting=0)
    with client_of(create_app({"slow": slow_toy}, threads=1, limits=limits)) as client:
        answers = []

        def post(text):
            answers.append(client.post("/v1/translate", json={"text": text}))

        threads = [threading.Thread(target=post, args=(ENDLESS,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answer.status_code for answer in answers) == [429, 503]
        for answer in answers:
            assert answer.headers["Retry-After"] == "1"
        # Once the search has ended, which it was told to.
        wait_until(lambda: client.post("/v1/translate", json={"text": "a"}).status_code == 200)
