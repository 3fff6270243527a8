"""Where tokens stand in text: all of it is divided among them, also where tokenizers change it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam import RawText
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.marked_text.token_spans import token_spans


@given(tokens=st.lists(st.text("ab\"'İß", min_size=1, max_size=4), max_size=8), text=st.text("ab „'İß\n", max_size=30))
def test_spans_divide_the_text(tokens, text):
    spans = token_spans(tokens, text)
    assert len(spans) == len(tokens)
    end = 0
    for begin, behind in spans:
        assert end <= begin <= behind
        assert not text[end:begin].strip()
        end = behind
    assert not tokens or not text[end:].strip()


@given(tokens=st.lists(st.text("abc.", min_size=1, max_size=4), max_size=8), data=st.data())
def test_tokens_that_stand_there_are_found(tokens, data):
    text, expected = "", []
    for token in tokens:
        text += data.draw(st.sampled_from(["", " ", "\n "]))
        expected.append((len(text), len(text) + len(token)))
        text += token
    assert token_spans(tokens, text) == expected


@pytest.mark.parametrize(
    "text", ["Der „Hund“, schläft…", "Er … “ja” . “ja”", "Das ist O'Neill's (kleiner) Hund.", "Er zahlt 1.000 €, ja!"]
)
def test_tokens_of_raw_text(text):
    raw_text = RawText(RawTextSettings(source_language="de", target_language="de", casing="lowercase", escape=False))
    tokens = raw_text.before(text).split()
    found = [text[begin:end].lower() for begin, end in token_spans(tokens, text)]
    same = [(one, other) for one, other in zip(found, tokens) if one.isalnum() or other.isalnum()]
    assert all(one == other for one, other in same)
    assert len(same) > 2


def test_time_is_linear():
    start = time.perf_counter()
    token_spans(["ab"] * 5_000, "b c" * 5_000)
    assert time.perf_counter() - start < 10
