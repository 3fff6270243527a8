"""Plain text whose lines have several sentences."""

import pytest
import yaml

from phrasebeam import translate
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.documents.open_document import open_document
from phrasebeam.decoder.documents.paragraphs import paragraphs, translate_paragraphs
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision
from tests.decoder.models import random_toy

DIVISION = SentenceDivision("en", "de")
TEXT = "\n  A b!  C d?\tB <b>c! D</b>!\n\n\n C %s a. \n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of random numbers whose text is raw."""
    directory = tmp_path_factory.mktemp("model")
    random_toy(directory, 2)
    description = yaml.safe_load((directory / "model.yaml").read_text())
    raw = {"source_language": "en", "target_language": "de", "casing": "lowercase"}
    (directory / "model.yaml").write_text(yaml.safe_dump(description | {"preprocessing": raw}))
    return directory


def test_text_comes_back_as_it_was():
    document = paragraphs(TEXT, DIVISION)
    sentences = [one.text for one in document.sentences]
    assert sentences == ["A b!", "C d?", "B <b>c! D</b>!", "C %s a."]
    assert document.filled(sentences) == TEXT
    assert document.filled(["1", "2", "3", "4"]) == "\n  1  2\t3\n\n\n 4 \n"


def test_lines_are_translated_as_soon_as_their_sentences_are():
    done = []

    def translate_all(texts):
        for text in texts:
            done.append(text)
            yield text.lower()

    lines = translate_paragraphs(["", "A! B!", " ", "C. ", "D"], DIVISION, translate_all)
    assert [next(lines), next(lines)] == ["", "a! b!"] and done == ["A!", "B!"]
    assert list(lines) == [" ", "c. ", "d"]


def test_the_command(model, tmp_path):
    given = tmp_path / "text"
    given.write_text("A b! C d!\n\n  a c!  B d? \n")
    one, two, three, four = translate(model, input=_written(tmp_path, "A b!\nC d!\na c!\nB d?\n"))
    assert translate(model, input=given, paragraphs=True) == [f"{one} {two}", "", f"  {three}  {four} "]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"raw": False}, "--paragraphs is for raw text"),
        ({"nbest": 2, "nbest_output": "-"}, "--nbest is for single sentences; leave it out, or --paragraphs"),
        ({"input": "x.po"}, "--paragraphs is for plain text"),
    ],
)
def test_what_cannot_be(model, tmp_path, monkeypatch, more, message):
    monkeypatch.chdir(tmp_path)
    given = {"input": _written(tmp_path, "a\n"), **more}
    with pytest.raises(ConfigError, match=message):
        translate(model, paragraphs=True, **given)


def test_a_document_of_sentences(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(TEXT)
    document = open_document(path, division=DIVISION)
    assert [one.written for one in document.segments] == ["A b!", "C d?", "B <b>c! D</b>!", "C %s a."]
    document.confirm({1: "Z!"})
    assert document.content().decode() == TEXT.replace("C d?", "Z!")


def _written(folder, text):
    path = folder / "lines"
    path.write_text(text)
    return path
