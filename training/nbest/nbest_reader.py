"""N-best lists as Moses and other decoders write them, read in pieces; lines that kernels cannot read, by Python."""

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
    """Reads a list; `names` are those of its features, in the order in which they first occur."""

    def __init__(self, path: Path):
        self.path, self.names = path, TextVocabulary()
        self._seen, self._n_tries = np.zeros(0, np.int64), 0
        self._n_before, self._last = 0, -1  # lines that were handed out, and the last sentence of these

    def __iter__(self) -> Iterator[NbestLines]:
        """The lines in pieces, all lines of a sentence in the same piece.

        Raises FormatError, naming the line, behind the sentences before it, also where sentences are not in order.
        """
        pieces, n_bytes, n_open = list[bytes](), 0, 0
        for block in read_blocks(self.path):
            pieces.append(block)
            n_bytes += len(block)
            if n_bytes < 2 * n_open:  # those of the last sentence are read again: not for each block, if they are many
                continue
            text = b"".join(pieces)
            lines = self._read(bytearray(text), is_last=False)
            yield lines
            pieces = [text[lines.begin[-1] :]]
            n_bytes = n_open = len(pieces[0])
        if n_bytes:
            yield self._read(bytearray(b"".join(pieces)), is_last=True)

    def _read(self, text: bytearray, is_last: bool) -> NbestLines:
        """The lines of `text`; unless it `is_last`, without those of the last sentence."""
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
        """Read the lines up to one that the kernel cannot read; whether there is one."""
        while (status := read_lines_of(lines, place, fields, self.names.table, self._seen)) == NO_ROOM:
            rest = lines.text[place[NEXT] :].tobytes()
            n_bytes = rest.find(b"\n") + 1 or len(rest)
            self.names.make_room(n_bytes)
            self._seen = np.zeros(2 * (len(self.names) + n_bytes), np.int64)
        return bool(status == ODD)

    def _plain(self, line: str, place: np.ndarray) -> bytes:
        """A line as the kernel reads it. Raises FormatError."""
        try:
            return _plain(line, int(place[LAST]))
        except ValueError as error:
            raise FormatError(self.path, str(error), self._n_before + int(place[LINES]) + 1) from None


def _plain(line: str, last: int) -> bytes:
    """A line behind those of the sentence `last` (-1: none), as the kernel reads it. Raises ValueError."""
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
    """The name, or None, and the value, which may be empty, of a token: name=, name:, name=value or value."""
    if token.endswith(("=", ":")):
        return token[:-1], ""
    # As Moses' mert does, at the last one: words that are part of names may have = in them.
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
