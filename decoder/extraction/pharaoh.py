"""Word alignments of single sentence pairs in Pharaoh's format, `0-0 1-2 2-1`, or several, `0-0 1-2 ||| 0-0`.

Manual gold alignments have sure points, `0-0`, and possible points, `1?1` or `1p1`; both are points here.
"""

import re
from pathlib import Path

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.lm.text.corpus import split

LINE = re.compile(r"\s*(?:\d{1,9}[-?p]\d{1,9}(?:\s+|$))*", re.ASCII)
POINT = re.compile(r"\d{1,9}[-?p]\d{1,9}", re.ASCII)
BLANKS = str.maketrans("-?p", "   ")
NAACL = re.compile(r"\s*\d{1,9}\s+\d{1,9}\s+\d{1,9}(?:\s+[SP])?(?:\s+[\d.]+)?\s*$", re.ASCII)  # one point a line
SEPARATOR = "|||"  # between alignments of a sentence pair
# Other formats of alignments: how a line begins, and the error message.
FOREIGN = (
    (
        re.compile(r"# Sentence pair \("),
        "an A3 file of GIZA++ or mgiza, which has one direction; give both directions, symmetrized by Moses' tools: "
        "giza2bal.pl -d T-S.A3.final -i S-T.A3.final | symal -alignment=grow -diagonal=yes -final=yes -both=yes",
    ),
    (
        NAACL,
        "a point a line, as in NAACL's format (sentence source target, from 1); expected a line a sentence pair, "
        "positions from 0, as in 0-0 1-2, possible points as 1?2",
    ),
)


def read_alternatives(line: str, n_source: int, n_target: int, path: str | Path, number: int) -> list[list[int]]:
    """The points of each alignment in a line, see `read_points`, which raises FormatError."""
    return [read_points(part, n_source, n_target, path, number) for part in line.split(SEPARATOR)]


def read_points(line: str, n_source: int, n_target: int, path: str | Path, number: int) -> list[int]:
    """The positions source, target, source, target ... in a line, for `n_source` and `n_target` words.

    Raises FormatError, naming line `number` of the file `path`, for other text and for points outside the sentences.
    """
    check_format(line, path, number)
    numbers = [int(number) for number in line.translate(BLANKS).split()]
    if numbers and (max(numbers[0::2]) >= n_source or max(numbers[1::2]) >= n_target):
        points = zip(numbers[0::2], numbers[1::2])
        s, t = next((s, t) for s, t in points if s >= n_source or t >= n_target)
        sizes = f"{n_source} source and {n_target} target words"
        message = f"point {s}-{t} lies outside the sentence pair of {sizes}; positions count from 0, source first"
        raise FormatError(path, message, number)
    return numbers


def check_format(line: str, path: str | Path, number: int) -> None:
    """Raise FormatError with line `number` of the file `path` if the text contains anything except points."""
    if LINE.fullmatch(line):
        return
    for beginning, message in FOREIGN:
        if beginning.match(line):
            raise FormatError(path, message, number)
    wrong = next(word for word in split(line) if not POINT.fullmatch(word))
    message = f"{excerpt(wrong)} is not an alignment point; expected source-target, positions from 0, as in 0-0 1-2"
    raise FormatError(path, message, number)
