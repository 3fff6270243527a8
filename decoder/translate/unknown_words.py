"""Hints where a model does not know many of the words of its input, or the input looks like raw text."""

from collections.abc import Iterable, Iterator

from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.raw_text.raw_lines import MOST_RAW, looks_raw
from phrasebeam.process.hints import hint

MOST_UNKNOWN = 0.4  # share of words; of the wrong language of two half are often known, as names and loans are
SENTENCES = 1000  # the first ones, by which it is decided


def with_hints(inputs: Iterable[Input], model: Model) -> Iterator[Input]:
    """The inputs as they are; hints follow the last one if many words of the first ones are not in the model.

    Of a model of raw text also if many of the sentences look raw.
    """
    n_words = n_unknown = n_raw = n_sentences = 0
    for number, given in enumerate(inputs):
        if number < SENTENCES:
            n_words += len(given.words)
            n_unknown += int((model.source.ids(list(given.words)) < 0).sum()) if given.words else 0
            n_raw += looks_raw(given.words[-1]) if given.words else 0
            n_sentences += 1
        yield given
    if n_unknown > MOST_UNKNOWN * n_words:
        advice = "is the input in its source language, and tokenized and cased as its training data (or else --raw)?"
        hint(f"the model does not know {n_unknown} of {n_words} words: {advice}")
    if model.description.preprocessing and n_raw > MOST_RAW * n_sentences:
        hint(
            f"{n_raw} of {n_sentences} sentences look as if they were not tokenized, as the model needs it: give --raw"
        )
