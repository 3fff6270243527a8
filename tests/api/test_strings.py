"""A string is a tokenized line wherever words are expected, and refused where lines are."""

import pytest

from phrasebeam import (
    Decoder,
    EvaluationOptions,
    HeldOutPair,
    Input,
    LanguageModel,
    Term,
    evaluate_texts,
    translate_lines,
)
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.sentence_input import Prefix


def test_words_of_an_input():
    assert Input(" der  hund ").words == ("der", "hund")
    assert Input("der hund", tags="DET N").tags == ("DET", "N")
    assert Term(0, 1, "the dog").target == ("the", "dog")
    assert Prefix("the dog").words == ("the", "dog")
    assert HeldOutPair("the dog", ((0, 1),)).reference == ("the", "dog")
    assert Input(["der", "hund"]).words == ["der", "hund"]


def test_language_model(corpus, kenlm):
    lm, sentence = LanguageModel.load(corpus / "model/lm.bin"), "der hund the dog sleeps ."
    assert (
        lm.score(sentence)
        == lm.score(sentence.split())
        == pytest.approx(kenlm(corpus / "model/lm.bin").score(sentence), abs=1e-5)
    )
    assert lm.full_scores(sentence) == lm.full_scores(sentence.split())
    assert lm.word_ids("the dog").tolist() == lm.word_ids(["the", "dog"]).tolist()


def test_decoder_takes_lines_words_and_inputs(toy):
    decoder = Decoder.load(toy)
    assert decoder.translate("a b c") == decoder.translate(["a", "b", "c"]) == decoder.translate(Input("a b c"))


@pytest.mark.parametrize("name", ["translate_all", "nbest_all", "answer_all", "nbest_tables"])
def test_one_line_is_no_text(toy, name):
    decoder = Decoder.load(toy)
    further = {"nbest_all": (2,), "nbest_tables": (2,), "answer_all": (decoder.request,)}.get(name, ())
    with pytest.raises(ConfigError, match=rf"Decoder\.{name}: lines is 'a b', expected a list, each item a string"):
        getattr(decoder, name)("a b", *further)


def test_one_line_is_no_text_elsewhere(toy):
    with pytest.raises(ConfigError, match="translate_lines: lines is 'a b', expected a list, each item a string"):
        next(translate_lines(Decoder.load(toy), "a b"))
    for systems, references in (({"x": "a b"}, [["a b"]]), ({"x": ["a b"]}, ["a b"])):
        with pytest.raises(ConfigError, match=r"evaluate_texts: (systems|references) is .*, each item a string"):
            evaluate_texts(systems, references, EvaluationOptions())
