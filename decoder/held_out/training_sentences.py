"""Training sentence pairs read from files: sentences, references and, for leave-one-out, word alignments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.extraction.pharaoh import read_alternatives
from phrasebeam.decoder.input.sentence_input import HeldOutPair, Input, LeaveOneOut
from phrasebeam.decoder.model.language_model_folds import fold_of
from phrasebeam.lm.text.corpus import split


class TrainingFiles(NamedTuple):
    """Files that are parallel to a file of source sentences."""

    reference: Path
    alignment: Path | None  # None: no counts are subtracted
    mode: LeaveOneOut = "drop"
    n_folds: int | None = None  # number of folds of language models, see language_model_folds.py


def with_references(
    inputs: Iterable[Input], files: TrainingFiles, tokenize: Callable[[str], str] = str
) -> Iterator[tuple[Input, tuple[str, ...]]]:
    """Yield each sentence and its reference; with an alignment, the pair's counts are held out from the phrase table.

    With folds, the sentence names the fold whose language model was trained without it. `tokenize` turns a reference
    into tokens. Raises FormatError if one of the files ends before the others, or is damaged.
    """
    references = read_lines(files.reference)
    alignments = read_lines(files.alignment) if files.alignment else None
    for number, (given, line) in enumerate(zip_longest(inputs, references), 1):
        if given is None:
            raise FormatError(files.reference, "more lines than there are sentences; give one for each", number)
        if line is None:
            raise FormatError(files.reference, f"ends after line {number - 1}, and there are more sentences")
        reference = tuple(split(tokenize(line)))
        fold = fold_of(number - 1, files.n_folds) if files.n_folds else None
        if alignments is not None and files.alignment:
            points = next(alignments, None)
            if points is None:
                raise FormatError(files.alignment, f"ends after line {number - 1}, and there are more sentence pairs")
            sizes = len(given.words), len(reference)
            alternatives = read_alternatives(points, *sizes, files.alignment, number)
            first, *more = (tuple(zip(numbers[::2], numbers[1::2])) for numbers in alternatives)
            given = replace(given, held_out=HeldOutPair(reference, first, files.mode, fold, tuple(more)))
        elif fold is not None:
            given = replace(given, held_out=HeldOutPair((), (), fold=fold))
        yield given, reference
    if alignments is not None and files.alignment and next(alignments, None) is not None:
        raise FormatError(files.alignment, "more lines than there are sentence pairs; give one for each", number + 1)
