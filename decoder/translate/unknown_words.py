"""A hint where a model does not know many of the words of its input."""

from collections.abc import Iterable, Iterator

from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.process.hints import hint

MOST_UNKNOWN = 0.4  # share of words; of the wrong language of two half are often known, as names and loans are
SENTENCES = 1000  # the first ones, by which it is decided


def with_hint(inputs: Iterable[Input], source: FixedVocabulary) -> Iterator[Input]:
    """The inputs as they are; a hint follows the last one if many words of the first ones are not in `source`."""
    n_words = n_unknown = 0
    for number, given in enumerate(inputs):
        if number < SENTENCES:
            n_words += len(given.words)
            n_unknown += int((source.ids(list(given.words)) < 0).sum()) if given.words else 0
        yield given
    if n_unknown > MOST_UNKNOWN * n_words:
        advice = "is the input in its source language, and tokenized and cased as its training data (or else --raw)?"
        hint(f"the model does not know {n_unknown} of {n_words} words: {advice}")
