"""A new version of a model, put in the place of the old one while requests go on."""

import errno
import os
import re
import shutil
import threading

import pytest

from phrasebeam import Decoder
from phrasebeam.server import app as application
from phrasebeam.server.app import create_app
from phrasebeam.server.serving import served_models
from phrasebeam.server.serving.served_models import ServedModels, version_of
from tests.decoder.models import random_toy
from tests.server.conftest import client_of
from tests.server.running import wait_until

TEXT = "a b c d"


@pytest.fixture
def directory(tmp_path):
    """A model that can be replaced."""
    directory = tmp_path / "model"
    directory.mkdir()
    random_toy(directory, 1)
    return directory


def put(directory, seed):
    """Replace the model by another, as commands do: written beside it, then renamed."""
    new, old = directory.with_name("new"), directory.with_name(f"old{seed}")
    new.mkdir()
    random_toy(new, seed)
    os.rename(directory, old)
    os.rename(new, directory)


def test_it_is_taken_up_while_requests_go_on(directory, monkeypatch):
    monkeypatch.setattr(application, "SECONDS_BETWEEN_LOOKS", 0.05)
    expected = {}
    with client_of(create_app({"model": directory}, threads=2)) as client:
        expected[version_of(directory)] = Decoder.load(directory).translate(TEXT).text
        answers, is_done = [], threading.Event()

        def ask():
            while not is_done.is_set():
                answer = client.post("/v1/translate", json={"text": TEXT})
                answers.append((answer.status_code, answer.json()))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for seed in (2, 3):
                put(directory, seed)
                version = version_of(directory)
                expected[version] = Decoder.load(directory).translate(TEXT).text
                wait_until(lambda: client.get("/v1/models").json()["models"][0]["version"] == version)  # noqa: B023
        finally:
            is_done.set()
            for thread in threads:
                thread.join()
    assert {status for status, _ in answers} == {200}
    assert {answer["version"] for _, answer in answers} == expected.keys()
    assert len(set(expected.values())) == 3
    for _, answer in answers:
        assert answer["translations"][0]["text"] == expected[answer["version"]]


def test_an_edit_of_its_weights_is_a_new_version(directory):
    served = ServedModels({"model": directory})
    before = served.get()
    weights = directory / "weights.yaml"
    weights.write_text(re.sub("word_penalty: .*", "word_penalty: 0.25", weights.read_text()))
    served.refresh()
    assert served.get() is before  # until it was seen twice
    served.refresh()
    assert served.get().version == version_of(directory) != before.version
    kept = served.get()
    served.refresh()
    assert served.get() is kept


def test_a_damaged_one_is_not_taken_up(directory, tmp_path, caplog):
    served = ServedModels({"model": directory})
    before = served.get()
    text = before.decoder.translate(TEXT).text
    whole = (directory / "weights.yaml").read_text()
    for damage in ("weights", None):
        if damage:
            (tmp_path / "damaged").write_text("translation: x\n")
            os.replace(tmp_path / "damaged", directory / "weights.yaml")
        else:
            os.rename(directory, tmp_path / "elsewhere")
        for _ in range(3):
            served.refresh()
        assert served.get() is before
        assert before.decoder.translate(TEXT).text == text
    assert caplog.text.count("cannot be opened") == 1
    shutil.move(tmp_path / "elsewhere", directory)
    (directory / "weights.yaml").write_text(whole)
    for _ in range(2):
        served.refresh()
    assert served.get() is not before
    assert served.get().version == before.version


def test_a_shortage_that_passes_does_not_keep_it_out(directory, monkeypatch, caplog):
    served = ServedModels({"model": directory})
    put(directory, 2)
    served.refresh()
    for error in (OSError(errno.EMFILE, "Too many open files"), MemoryError(), RuntimeError("can't start new thread")):
        with monkeypatch.context() as patch:
            patch.setattr(served_models, "open_served", raising(error))
            served.refresh()
        assert served.get().version != version_of(directory)
    served.refresh()
    assert served.get().version == version_of(directory)


def raising(error):
    def function(*_):
        raise error

    return function
