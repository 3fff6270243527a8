"""Sentences of a text, and what is between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.marked_text.html_document import html_document
from phrasebeam.decoder.marked_text.marked_text import MarkedText
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision

PIECES = ["Ab", "b", ". ", "! ", "?", ",", " ", "\t", "(", '"', "。", "5", "Dr. ", "\ud800", "😀"]
TEXT = st.lists(st.sampled_from(PIECES)).map("".join)


def divided(text, source="en", target="de", **more):
    return SentenceDivision(source, target, **more).divided(MarkedText(text))


def texts(parts):
    return [part if isinstance(part, str) else part.text for part in parts]


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("en", "Dr. Smith came at 3.5 p.m. to see it.  Who?", ["Dr. Smith came at 3.5 p.m. to see it.", "  ", "Who?"]),
        ("de-AT", "Am 3. Oktober kam er z. B. um 5 Uhr. Gut!", ["Am 3. Oktober kam er z. B. um 5 Uhr.", " ", "Gut!"]),
        ("fr", "M. Dupont est là. Bien.", ["M. Dupont est là.", " ", "Bien."]),
        ("hi", "यह एक वाक्य है। दूसरा वाक्य।", ["यह एक वाक्य है।", " ", "दूसरा वाक्य।"]),
        ("ar", "كيف حالك؟ بخير.", ["كيف حالك؟", " ", "بخير."]),
        ("zh_Hans", "你好。我是学生。", ["你好。", " ", "我是学生。"]),  # the translation has spaces
        ("qaa-x-own", "One. Two.", ["One.", " ", "Two."]),
        ("en", "", []),
    ],
)
def test_languages(language, text, sentences):
    assert texts(divided(text, language)) == sentences


def test_languages_without_spaces_have_none_between_sentences():
    assert texts(divided("你好。我是学生。", "zh", "ja")) == ["你好。", "", "我是学生。"]


@given(TEXT, st.sampled_from(["en", "de", "zh", "xx"]), st.integers(1, 20))
def test_nothing_is_lost(text, language, most):
    parts = divided(text, language, "ja", is_short=lambda sentence: len(sentence) <= most)
    assert "".join(texts(parts)) == text.strip()
    for part in parts:
        assert isinstance(part, str) == (not texts([part])[0].strip())


def test_a_sentence_beyond_the_limit_is_divided_at_signs_and_else_at_spaces():
    parts = divided("a b c d, e f g h i j k l", is_short=lambda sentence: len(sentence.split()) <= 4)
    assert texts(parts)[::2] == ["a b c d,", "e f g h", "i j k l"]
    assert texts(divided("a" * 50, is_short=lambda sentence: len(sentence) <= 4)) == ["a" * 50]  # one word


def test_what_is_whole_is_not_divided():
    text = "Open {One. Two.} now. Good."
    parts = SentenceDivision("en", "de").divided(MarkedText(text), [(5, 16)])
    assert texts(parts) == ["Open {One. Two.} now.", " ", "Good."]


@pytest.mark.parametrize(
    ("html", "sentences"),
    [
        ("<p>One. <b>Two.</b><br>Three <i>is. Not</i> four.", ["One.", "Two.", "Three is. Not four."]),
        ("One. <!-- here --> Two.<br/> Three", ["One.", "Two.", "Three"]),
        ("<b>One <i>two</i>.</b> Three.", ["One two.", "Three."]),
    ],
)
def test_html(html, sentences):
    document = SentenceDivision("en", "de").divided_document(html_document(html))
    assert [one.text for one in document.sentences] == sentences
    assert all(0 <= mark.begin <= mark.end <= len(one.text) for one in document.sentences for mark in one.marks)
    n_tags = sum(part.count("<") for part in document.parts if isinstance(part, str))
    n_tags += sum(1 + bool(mark.closing) for one in document.sentences for mark in _all(one.marks))
    assert n_tags == html.count("<")


def _all(marks):
    for mark in marks:
        yield mark
        yield from _all(mark.children)


def test_without_sentencex(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentencex", None)
    with pytest.raises(ConfigError, match=r"phrasebeam\[paragraphs\]"):
        divided("One. Two.")
