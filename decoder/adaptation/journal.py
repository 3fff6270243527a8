"""The journal of a project: confirmed and undone segments, one record a line, on disk before a request is answered.

A line is the CRC-32 of its rest in hexadecimal, a space, and a JSON object; the first line describes the file. A
process that is killed while it writes leaves half a line at the end, which no caller was told of; the next record
replaces it. Apart from that the file only grows. A file that is not a journal is never changed.
"""

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

from phrasebeam.base.errors import ConfigError, FormatError, SmtError, excerpt
from phrasebeam.decoder.translation_memory.segment import Segment
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.system.descriptors import open_binary_descriptor, read_at, sync_directory
from phrasebeam.system.locks import try_lock

FORMAT = "phrasebeam journal 1"
ADVICE = "copy the journal again, or take it from a backup"
CLOSED = -1  # replaces a descriptor
UNKNOWN = -1  # replaces a size
MOST_POINTS = 1 << 16  # alignment points kept as shared objects


def _line(record: Mapping[str, object]) -> bytes:
    text = json.dumps(record, ensure_ascii=False).encode("utf-8")
    return b"%08x %s\n" % (zlib.crc32(text), text)


HEADER = _line({"format": FORMAT})


class OpenJournalError(ConfigError):
    """A journal is open already, perhaps in another process."""


class ChangedJournalError(SmtError):
    """Another program has removed, replaced or cut a journal while it was open; the record does not count."""


class JournalContent(NamedTuple):
    """The content of a journal as read."""

    segments: dict[int, Segment]  # all segments that are not undone, by number
    n_confirmed: int  # number of confirmed segments, including undone ones
    end: int  # end of the last whole record, in bytes


class Journal:
    """The open journal of one project; only one process can have it open. Give it up with `close`."""

    def __init__(self, path: str | Path):
        """Open the journal, or create it. Raises FormatError if it is damaged, OpenJournalError if already open."""
        self.path, self._file = Path(path), CLOSED
        self.reopen()

    def reopen(self) -> None:
        """Read the journal that is at the path now, or create one if there is none. Raises as __init__.

        If it raises, the segments stay as they were, and no record is written until the journal is read again.
        """
        self._size = UNKNOWN
        file = self._file if self._is_at_path() else self._opened()
        try:
            with open(file, "rb", closefd=False) as reader:
                reader.seek(0)
                data = reader.read()
            content = read_content(data, self.path)
        except BaseException:
            if file != self._file:
                os.close(file)
            raise
        if file != self._file:
            self.close()
        self._file, self._size = file, len(data)
        self.segments, self.n_confirmed, self._end = content

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        if self._file != CLOSED:
            os.close(self._file)
        self._file = CLOSED

    def confirm(self, segment: Segment) -> None:
        """Write a segment; it is on disk when this returns. Raises as check_place, and OSError."""
        with named_in_errors(self.path):
            self._append(fields(segment))
        self.segments[segment.number] = segment
        self.n_confirmed = segment.number

    def undo(self, number: int) -> None:
        """Write that a segment is undone; this is on disk when it returns. Raises as `confirm`."""
        with named_in_errors(self.path):
            self._append({"undo": number})
        del self.segments[number]

    def check_place(self) -> None:
        """Raise ChangedJournalError unless the path leads to the open file, and the file has the size that we left.

        Raises ConfigError if the journal was closed.
        """
        if self._file == CLOSED:
            raise ConfigError(f"{self.path}: this journal was closed; open it again")
        if not self._is_at_path() or os.fstat(self._file).st_size != self._size:
            message = "removed, replaced or cut by another program while it was open; it is read again, confirm again"
            raise ChangedJournalError(f"{self.path}: {message}")

    def _is_at_path(self) -> bool:
        try:
            return self._file != CLOSED and os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def _opened(self) -> int:
        """A descriptor of the file at the path, locked."""
        file = open_binary_descriptor(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise FormatError(self.path, "not a regular file; name another file for the journal")
            try_lock(file)
            return file
        except BlockingIOError:
            os.close(file)
            message = "this journal is open already, perhaps in another process; wait for it, or name another file"
            raise OpenJournalError(f"{self.path}: {message}") from None
        except BaseException:
            os.close(file)
            raise

    def _append(self, record: Mapping[str, object]) -> None:
        """Write a record at the end and wait for the disk; if that fails half-way, remove what was written."""
        line, written = (b"" if self._end else HEADER) + _line(record), 0
        self.check_place()
        if self._size > self._end:
            os.ftruncate(self._file, self._end)
            self._size = self._end
        try:
            written = os.write(self._file, line)  # at the end of the file, wherever that is now
            if written != len(line):
                raise OSError(f"{written} of {len(line)} bytes were written")
            os.fsync(self._file)
            if not self._end:
                sync_directory(self.path.parent)
            self._size += written
            self.check_place()
        except (OSError, ChangedJournalError):
            self._take_back(line[:written])
            self._size = self._end
            raise
        self._end = self._size

    def _take_back(self, written: bytes) -> None:
        """Cut off the written part of a failed record, if the file still ends with it."""
        begin = os.fstat(self._file).st_size - len(written)
        if begin >= 0 and read_at(self._file, len(written), begin) == written:
            os.ftruncate(self._file, begin)


def read_content(data: bytes, path: Path) -> JournalContent:
    """The content of the journal at `path`, of bytes `data`. Raises FormatError if it is damaged, or not a journal."""
    if len(data) < len(HEADER) and HEADER.startswith(data):
        return JournalContent({}, 0, 0)  # new, or begun by a process that was killed
    if not data.startswith(HEADER):
        found = excerpt(data[: len(HEADER)])
        message = f"the record is damaged, or this is no journal: {found}, expected {FORMAT!r}; name another file"
        raise FormatError(path, f"{message}, or {ADVICE}", 1)
    segments, n_confirmed, end = dict[int, Segment](), 0, data.rfind(b"\n") + 1
    for line, record in enumerate(_records(data[len(HEADER) : end], path), 2):
        try:
            if record.get("undo") in segments:
                del segments[record["undo"]]
                continue
            segment = _segment(record)
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise _no_record(path, line) from error
        if segment.number != n_confirmed + 1:
            raise FormatError(path, f"a record that does not follow from those before; {ADVICE}", line)
        segments[segment.number], n_confirmed = segment, segment.number
    return JournalContent(segments, n_confirmed, end)


def _records(data: bytes, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.splitlines(), 2):
        digest, _, text = line.partition(b" ")
        if digest != b"%08x" % zlib.crc32(text):
            raise FormatError(path, f"the record is damaged; {ADVICE}", number)
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _no_record(path, number) from error
        if not isinstance(record, dict):
            raise _no_record(path, number)
        yield record


def _no_record(path: Path, line: int) -> FormatError:
    """The error for a line whose digest is right but which is not a line of a journal."""
    return FormatError(path, f"no record of a journal, expected a segment or what is undone; {ADVICE}", line)


def fields(segment: Segment) -> dict[str, object]:
    """A segment as a record of the journal."""
    return {
        "number": segment.number,
        "source": " ".join(segment.source),
        "translation": " ".join(segment.translation),
        "alignment": " ".join(f"{s}-{t}" for s, t in segment.alignment),
        "key": segment.key,
    }


def _segment(record: Mapping[str, Any]) -> Segment:
    """The segment of a record. Raises KeyError, TypeError, ValueError, AttributeError or ConfigError if invalid."""
    alignment = tuple(map(_point, record["alignment"].split()))
    source, translation = (tuple(map(intern, record[name].split(" "))) for name in ("source", "translation"))
    if any(not (0 <= s < len(source) and 0 <= t < len(translation)) for s, t in alignment):
        raise ValueError("an alignment point beyond the words")
    return Segment(record["number"], source, translation, alignment, record["key"])


@lru_cache(MOST_POINTS)
def _point(text: str) -> tuple[int, int]:
    """An alignment point; equal points of many segments are the same object, as their words are."""
    source, target = text.split("-")
    return int(source), int(target)
