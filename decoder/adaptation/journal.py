"""The journal of a project: confirmed segments and undone ones, one record a line, on disk before anyone is answered.

A line is the CRC-32 of the rest in hexadecimal, a space, and a JSON object. The file only grows. A process that is
killed while it writes leaves half a line at the end, which nobody was told of; it is cut off when the file is opened.
"""

import fcntl
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.adaptation.segment import Segment

FORMAT = "phrasebeam journal 1"
ADVICE = "copy the journal again, or take it from a backup"


class Journal:
    """The open journal of one project, which one process has at a time. Give it up with `close`."""

    def __init__(self, path: str | Path):
        """Open the journal, made if need be. Raises FormatError if it is damaged, ConfigError if it is open."""
        self.path = Path(path)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise FormatError(self.path, "no regular file; name another one for the journal")
            self._lock()
            self.segments = dict[int, Segment]()  # all that are not undone, by number
            self.n_confirmed = 0  # undone ones included
            self._end = self._read()
        except BaseException:
            os.close(self._file)
            raise

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        os.close(self._file)

    def confirm(self, segment: Segment) -> None:
        """Write a segment, which is on disk when this returns."""
        self._append(fields(segment))
        self._take(segment)

    def undo(self, number: int) -> None:
        """Write that a segment holds no more; that is on disk when this returns."""
        self._append({"undo": number})
        del self.segments[number]

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "this journal is open already, perhaps in another process; wait for it, or name another file"
            raise ConfigError(f"{self.path}: {message}") from None

    def _take(self, segment: Segment) -> None:
        self.segments[segment.number] = segment
        self.n_confirmed = segment.number

    def _append(self, record: Mapping[str, object]) -> None:
        """Write a record at the end and wait for the disk; what fails half-way is taken back."""
        line = _line(record)
        try:
            written = os.pwrite(self._file, line, self._end)
            if written != len(line):
                raise OSError(f"{written} of {len(line)} bytes were written")
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(line)

    def _read(self) -> int:
        """Take all records in; where the last of them ends, at which the file is cut off."""
        content = b""
        with open(self.path, "rb") as file:
            content = file.read()
        end = content.rfind(b"\n") + 1
        records = list(self._records(content[:end]))
        if not records:
            os.ftruncate(self._file, 0)
            self._end = 0
            self._append({"format": FORMAT})
            _sync_directory(self.path.parent)
            return self._end
        if records[0] != {"format": FORMAT}:
            raise FormatError(self.path, f"no journal: it begins with {records[0]!r}, expected {FORMAT!r}", 1)
        for number, record in enumerate(records[1:], 2):
            self._replay(record, number)
        if end < len(content):
            os.ftruncate(self._file, end)
            os.fsync(self._file)
        return end

    def _records(self, content: bytes) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(content.splitlines(), 1):
            digest, _, text = line.partition(b" ")
            if digest != b"%08x" % zlib.crc32(text):
                raise FormatError(self.path, f"the record is damaged, or this is no journal; {ADVICE}", number)
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise self._no_record(number) from error
            if not isinstance(record, dict):
                raise self._no_record(number)
            yield record

    def _replay(self, record: dict[str, Any], line: int) -> None:
        try:
            if record.get("undo") in self.segments:
                del self.segments[record["undo"]]
                return
            segment = _segment(record)
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise self._no_record(line) from error
        if segment.number != self.n_confirmed + 1:
            raise FormatError(self.path, f"a record that does not follow from those before; {ADVICE}", line)
        self._take(segment)

    def _no_record(self, line: int) -> FormatError:
        """The error where a line with the right digest is not what `_append` writes."""
        return FormatError(self.path, f"no record of a journal, expected a segment or what is undone; {ADVICE}", line)


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
    """The segment of a record. Raises KeyError, TypeError, ValueError, AttributeError or ConfigError if it is none."""
    points = (point.split("-") for point in record["alignment"].split())
    alignment = tuple((int(s), int(t)) for s, t in points)
    source, translation = (tuple(record[name].split(" ")) for name in ("source", "translation"))
    if any(not (0 <= s < len(source) and 0 <= t < len(translation)) for s, t in alignment):
        raise ValueError("an alignment point beyond the words")
    return Segment(record["number"], source, translation, alignment, record["key"])


def _line(record: Mapping[str, object]) -> bytes:
    text = json.dumps(record, ensure_ascii=False).encode("utf-8")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _sync_directory(directory: Path) -> None:
    """Make a new file's name outlive a crash of the machine."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
