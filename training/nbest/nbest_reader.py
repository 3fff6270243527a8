"""Reads n-best lists of Moses and other decoders in pieces, by kernels, or by Python if kernels cannot read a line."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_blocks
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.fields import line_at
from phrasebeam.lm.text.text_vocabulary import TextVocabulary
from phrasebeam.training.nbest.nbest_lines import (
    FIELDS,
    LAST,
    LINES,
    NEXT,
    NO_ROOM,
    ODD,
    TRIES,
    NbestLines,
    read_lines_of,
    room_for,
)
from phrasebeam.training.nbest.nbest_store import LARGEST_VALUE

NUMBER = re.compile("[0-9]{1,9}")


class NbestReader:
    """Reads a list; `names` are the names of its features, in the order in which they first occur."""

    def __init__(self, path: Path):
        self.path, self.names = path, TextVocabulary()
        self._seen, self._n_tries = np.zeros(0, np.int64), 0
        self._n_before, self._last = 0, -1  # number of lines yielded so far, and the sentence of the last of them

    def __iter__(self) -> Iterator[NbestLines]:
        """Yield the lines in pieces; all lines of a sentence are in the same piece.

        Raises FormatError, with the number of the line, for a wrong line, or if sentences are not in order. Sentences
        before that line may have been yielded.
        """
        pieces, n_bytes, n_open = list[bytes](), 0, 0
        for block in read_blocks(self.path):
            pieces.append(block)
            n_bytes += len(block)
            if n_bytes < 2 * n_open:  # the open last sentence is read again; if it is long, not after each block
                continue
            text = b"".join(pieces)
            lines = self._read(bytearray(text), is_last=False)
            yield lines
            pieces = [text[lines.begin[-1] :]]
            n_bytes = n_open = len(pieces[0])
        if n_bytes:
            yield self._read(bytearray(b"".join(pieces)), is_last=True)

    def _read(self, text: bytearray, is_last: bool) -> NbestLines:
        """Read the lines of `text`; unless `is_last`, the last sentence may go on, and is left out."""
        place, fields = np.array([0, 0, self._last, 0, 0, self._n_tries]), np.zeros((FIELDS + 2, 2), np.int64)
        lines = room_for(text)
        while self._is_odd(lines, place, fields):
            line, begin, span = line_at(text, int(place[NEXT])), int(place[NEXT]), fields[1].copy()
            plain, place[NEXT] = self._plain(line.decode("utf-8").rstrip("\r\n"), place), 0
            self._is_odd(lines._replace(text=np.frombuffer(bytearray(plain), np.uint8)), place, fields)
            place[NEXT] = begin + len(line)
            lines.begin[place[LINES]], lines.span[place[LINES] - 1] = place[NEXT], span
        n_lines = int(place[LINES])
        if not is_last:
            n_lines = int(np.searchsorted(lines.sentence[:n_lines], place[LAST]))
        if n_lines:
            self._n_before, self._last = self._n_before + n_lines, int(lines.sentence[n_lines - 1])
        self._n_tries = int(place[TRIES])
        return lines.first(n_lines)

    def _is_odd(self, lines: NbestLines, place: np.ndarray, fields: np.ndarray) -> bool:
        """Read the lines up to one that the kernel cannot read; return whether there is such a line."""
        while (status := read_lines_of(lines, place, fields, self.names.table, self._seen)) == NO_ROOM:
            rest = lines.text[place[NEXT] :].tobytes()
            n_bytes = rest.find(b"\n") + 1 or len(rest)
            self.names.make_room(n_bytes)
            self._seen = np.zeros(2 * (len(self.names) + n_bytes), np.int64)
        return bool(status == ODD)

    def _plain(self, line: str, place: np.ndarray) -> bytes:
        """Rewrite a line in the format that the kernel reads. Raises FormatError."""
        try:
            return _plain(line, int(place[LAST]))
        except ValueError as error:
            raise FormatError(self.path, str(error), self._n_before + int(place[LINES]) + 1) from None


def _plain(line: str, last: int) -> bytes:
    """Rewrite a line, which follows one of the sentence `last` (-1: none), for the kernel. Raises ValueError."""
    fields = [field.strip(" \t") for field in line.split("|||")]
    if len(fields) < FIELDS:
        raise ValueError(f"{len(fields)} fields, expected number ||| text ||| features ||| score")
    if not NUMBER.fullmatch(fields[0]):
        raise ValueError(f"the sentence {excerpt(fields[0])}, expected its number, from 0")
    features, score = _features(fields[2]), read_value("the score", fields[3])
    if not last <= int(fields[0]) <= max(last + 1, 0):
        expected = "0" if last < 0 else f"{last} or {last + 1}"
        raise ValueError(f"sentence {int(fields[0])}, expected {expected}; lists need every sentence")
    tokens = [token for name, values in features.items() for token in (f"{name}=", *map(repr, values))]
    return " ||| ".join((fields[0], fields[1], " ".join(tokens), repr(score))).encode("utf-8")


def _features(field: str) -> dict[str, list[float]]:
    features: dict[str, list[float]] = {}
    values: list[float] | None = None
    for token in split(field):
        name, value = _name_and_value(token)
        if name is not None:
            if name in features:
                raise ValueError(f"the feature {excerpt(name)} occurs twice")
            values = features[name] = []
        if values is None:
            raise ValueError(f"the value {excerpt(token)} has no name before it, such as LM0=")
        if value:
            values.append(read_value("a feature", value))
    return features


def _name_and_value(token: str) -> tuple[str | None, str]:
    """The name (or None) and the value (may be empty) of a token: name=, name:, name=value or value."""
    if token.endswith(("=", ":")):
        return token[:-1], ""
    # Split at the last =, as Moses' mert does: words that are part of names may contain =.
    name, _, value = token.rpartition("=")
    return (name, value) if name else (None, token)


def read_value(what: str, text: str) -> float:
    """The number `text` of a feature, score or weight. Raises ValueError if it is not a number, or too large."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST_VALUE:
        raise ValueError(f"{what} is {excerpt(text)}, expected a number up to {LARGEST_VALUE:g}")
    return value
