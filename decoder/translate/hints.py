"""Hints that a text does not fit the model: many unknown words, or raw text where tokens are expected."""

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import TypeVar

import numpy as np

from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.raw_text.raw_lines import MOST_RAW, looks_raw
from phrasebeam.lm.text.line_words import line_words
from phrasebeam.process.hints import hint

MOST_UNKNOWN = 0.4  # share of words; in the wrong of two languages half are often known, such as names and loans
HINTED = 1000  # number of first sentences that decide about hints
Given = TypeVar("Given", Input, str)


def with_hints(sentences: Iterable[Given], model: Model) -> Iterator[Given]:
    """Yield the sentences; hints are logged after the last one if the model lacks many words of the first ones.

    Words of terms do not count. If the model was made from raw text, another hint follows if many sentences look raw.
    """
    first = list[str]()
    for given in sentences:
        if len(first) < HINTED:
            first.append(given if isinstance(given, str) else " ".join(_words_outside_terms(given)))
        yield given
    words = line_words(first, model.source)
    n_unknown, n_words = int((words.ids < 0).sum()), words.ids.size
    if n_unknown > MOST_UNKNOWN * n_words:
        advice = "is the input in its source language, and tokenized and cased as its training data (or else --raw)?"
        hint(f"the model does not know {n_unknown} of {n_words} words: {advice}")
    if model.description.preprocessing:
        last = words.offsets[1:][np.diff(words.offsets) > 0] - 1
        n_raw, n_sentences = sum(looks_raw(words.word(i)) for i in last.tolist()), len(first)
        if n_raw > MOST_RAW * n_sentences:
            advice = "look as if they were not tokenized, as the model needs it: give --raw"
            hint(f"{n_raw} of {n_sentences} sentences {advice}")


def _words_outside_terms(given: Input) -> Iterator[str]:
    is_free = [True] * len(given.words)
    for term in given.terms:
        is_free[term.begin : term.end] = [False] * (term.end - term.begin)
    return compress(given.words, is_free)
