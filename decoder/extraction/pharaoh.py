"""Word alignments of single sentence pairs in Pharaoh's format, `0-0 1-2 2-1`, or several, `0-0 1-2 ||| 0-0`."""

import re
from pathlib import Path

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.lm.text.corpus import split

LINE = re.compile(r"\s*(?:\d{1,9}-\d{1,9}(?:\s+|$))*", re.ASCII)
POINT = re.compile(r"\d{1,9}-\d{1,9}", re.ASCII)
SEPARATOR = "|||"  # of several alignments of a sentence pair


def read_alternatives(line: str, n_source: int, n_target: int, path: str | Path, number: int) -> list[list[int]]:
    """The points of each alignment in a line, see `read_points`, which raises FormatError."""
    return [read_points(part, n_source, n_target, path, number) for part in line.split(SEPARATOR)]


def read_points(line: str, n_source: int, n_target: int, path: str | Path, number: int) -> list[int]:
    """The positions source, target, source, target ... in a line, for `n_source` and `n_target` words.

    Raises FormatError, naming line `number` of the file `path`, for other text and for points outside the sentences.
    """
    if not LINE.fullmatch(line):
        wrong = next(word for word in split(line) if not POINT.fullmatch(word))
        message = f"{excerpt(wrong)} is not an alignment point; expected source-target, positions from 0, as in 0-0 1-2"
        raise FormatError(path, message, number)
    numbers = [int(number) for number in line.replace("-", " ").split()]
    if numbers and (max(numbers[0::2]) >= n_source or max(numbers[1::2]) >= n_target):
        points = zip(numbers[0::2], numbers[1::2])
        s, t = next((s, t) for s, t in points if s >= n_source or t >= n_target)
        sizes = f"{n_source} source and {n_target} target words"
        message = f"point {s}-{t} lies outside the sentence pair of {sizes}; positions count from 0, source first"
        raise FormatError(path, message, number)
    return numbers
