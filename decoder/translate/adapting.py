"""Sentences translated in turn, each by what was learned from the confirmed translations of those before."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.lm.text.corpus import split


def adapted_answers(
    decoder: AdaptedDecoder, inputs: Iterable[Input], confirmed: Path, request: Request
) -> Iterator[Answer]:
    """The answer for each sentence; then its line of the file `confirmed` is learned as its translation.

    Simulated post-editing, as it is measured. Where a line is empty on a side, there is nothing to learn. A line that
    the journal has already from the same place of the same text is not learned again, so that a run that was stopped
    can be repeated. Raises FormatError where the file has more or fewer lines than there are sentences.
    """
    for number, (given, line) in enumerate(zip_longest(inputs, read_lines(confirmed)), 1):
        if given is None:
            raise FormatError(confirmed, "more lines than there are sentences; give one for each", number)
        if line is None:
            raise FormatError(confirmed, f"ends after line {number - 1}, and there are more sentences")
        yield decoder.answer(given, request)
        translation = split(line)
        if given.words and translation:
            text = f"{' '.join(given.words)}\n{' '.join(translation)}"
            decoder.confirm(given.words, translation, f"line {number} {zlib.crc32(text.encode('utf-8')):08x}")
