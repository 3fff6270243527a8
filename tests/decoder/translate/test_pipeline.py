"""The pipeline of `translate` as Python calls it."""

import pytest

import phrasebeam
from phrasebeam.decoder.input.sentence_input import Prefix
from phrasebeam.decoder.output.lattice_rendering import render_dot
from phrasebeam.decoder.output.rendering import render, render_nbest
from phrasebeam.decoder.raw_text.preprocessing import RawText
from tests.decoder.models import random_toy

LINES = ["a b c x", "", "b d a a", "x", "  c   b ", "a b d s"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


@pytest.fixture(scope="module")
def decoder(model):
    return phrasebeam.Decoder.load(model)


@pytest.mark.parametrize("threads", [1, 2])
def test_all_outputs_of_all_lines(decoder, threads):
    request = phrasebeam.Request(n=3, lattice=True)
    settings = phrasebeam.LineSettings(alignment=True, scores=True, lattice_format="dot")
    outputs = phrasebeam.translate_lines(decoder, iter(LINES), request, settings, threads=threads)
    expected = [
        (
            render(decoder.translate(line), True, False, True) + "\n",
            render_nbest(number, decoder.nbest(line, 3), True, False),
            render_dot(number, decoder.lattice(line)),
        )
        for number, line in enumerate(LINES)
    ]
    assert list(outputs) == expected


def test_what_is_not_asked_for_is_empty(decoder):
    assert [output[1:] for output in phrasebeam.translate_lines(decoder, LINES)] == [("", "")] * len(LINES)


def test_prefixes(decoder):
    prefixes = [Prefix(("s", "zz"))] * len(LINES)
    outputs = list(phrasebeam.translate_lines(decoder, LINES, prefixes=prefixes))
    assert [output.translation for output in outputs] == [decoder.complete(line, "s zz").text + "\n" for line in LINES]


def test_raw_text(decoder):
    raw_text = RawText(phrasebeam.RawTextSettings(source_language="de", target_language="en", casing="lowercase"))
    settings = phrasebeam.LineSettings(raw_text)
    outputs = list(phrasebeam.translate_lines(decoder, ["A b, C x."], settings=settings))
    expected = raw_text.after(decoder.translate(raw_text.before("A b, C x.")).text)
    assert [output.translation for output in outputs] == [expected + "\n"]


def test_words_of_raw_text_are_as_sure_as_their_tokens(decoder):
    raw_text = RawText(phrasebeam.RawTextSettings(source_language="de", target_language="en", casing="lowercase"))
    request = phrasebeam.Request(confidence=phrasebeam.ConfidenceSettings())
    (output,) = phrasebeam.translate_lines(decoder, ["A b, C x."], request, phrasebeam.LineSettings(raw_text))
    tokens = decoder.answer(raw_text.before("A b, C x."), request).translation
    text, values = output.translation.split(" ||| ")
    words, least, position = text.split(), [], 0
    assert text == raw_text.after(tokens.text) and len(words) < len(tokens.confidences)
    for word in words:
        begin, rest = position, word
        while rest:
            token = tokens.text.split()[position]
            assert rest.lower().startswith(token)
            rest, position = rest[len(token) :], position + 1
        least.append(min(tokens.confidences[begin:position]))
    assert values.split() == [f"{value:.4f}" for value in least]


def test_raw_text_shows_no_tokens(decoder):
    raw_text = RawText(phrasebeam.RawTextSettings(source_language="de", target_language="en", casing="keep"))
    for aligned in (
        phrasebeam.LineSettings(raw_text, alignment=True),
        phrasebeam.LineSettings(raw_text, segmentation=True),
    ):
        with pytest.raises(phrasebeam.ConfigError, match="which raw text does not show; give tokens"):
            next(phrasebeam.translate_lines(decoder, LINES, settings=aligned))


def test_damaged_lines_are_named(model):
    decoder = phrasebeam.Decoder.load(model, input_settings=phrasebeam.InputSettings(markup="exclusive"))
    settings = phrasebeam.LineSettings(source_name="request")
    outputs = phrasebeam.translate_lines(decoder, ["a", "</b>"], settings=settings)
    assert next(outputs).translation == decoder.translate("a").text + "\n"
    with pytest.raises(phrasebeam.FormatError, match=r"^request:2: "):
        next(outputs)
