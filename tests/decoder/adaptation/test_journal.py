"""The journal: what was answered is there after any kill, once; undone segments are gone; damage is told."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib

import pytest

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.adaptation.journal import HEADER, ChangedJournalError, Journal, OpenJournalError
from phrasebeam.decoder.translation_memory.segment import Segment

KILLS = 50
# Goes on with what is there, and answers on standard output when a segment is on disk.
WRITER = """
import sys
from phrasebeam.decoder.adaptation.journal import Journal
from phrasebeam.decoder.translation_memory.segment import Segment
journal = Journal(sys.argv[1])
print("open", journal.n_confirmed, flush=True)
while True:
    number = journal.n_confirmed + 1
    words = tuple(f"w{number}" * 50 for _ in range(number % 70 + 1))
    journal.confirm(Segment(number, words, words, ((0, 0),), f"key {number}"))
    print(number, flush=True)
"""


def segment(number, word="a"):
    return Segment(number, (word, "ä"), (["x", "y"][0],), ((0, 0), (1, 0)), f"key {number}")


def test_it_comes_back_as_it_was(tmp_path):
    journal = Journal(tmp_path / "j")
    for number in (1, 2, 3):
        journal.confirm(segment(number))
    journal.undo(2)
    journal.close()
    again = Journal(tmp_path / "j")
    assert again.segments == journal.segments == {1: segment(1), 3: segment(3)} and again.n_confirmed == 3
    again.confirm(segment(4))
    again.close()
    third = Journal(tmp_path / "j")
    assert list(third.segments) == [1, 3, 4]
    third.close()


def test_it_is_open_once(tmp_path):
    journal = Journal(tmp_path / "j")
    with pytest.raises(ConfigError, match="open already"):
        Journal(tmp_path / "j")
    journal.close()


def test_the_next_record_takes_the_place_of_half_a_one(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.confirm(segment(1))
    journal.confirm(segment(2))
    journal.close()
    whole = (tmp_path / "j").read_bytes()
    first_two = whole[: whole[:-1].rindex(b"\n") + 1]
    for size in range(len(first_two), len(whole)):
        (tmp_path / "j").write_bytes(whole[:size])
        cut = Journal(tmp_path / "j")
        assert list(cut.segments) == [1] and (tmp_path / "j").read_bytes() == whole[:size]  # reading changes nothing
        cut.confirm(segment(2))
        cut.close()
        assert (tmp_path / "j").read_bytes() == whole
    for size in range(len(whole[: whole.index(b"\n")])):
        (tmp_path / "j").write_bytes(whole[:size])
        new = Journal(tmp_path / "j")
        assert not new.segments
        new.confirm(segment(1))
        new.close()
        assert (tmp_path / "j").read_bytes() == first_two


@pytest.mark.parametrize(
    "content",
    [
        b"my notes, no final newline",
        b"\0",
        b" ",
        b"\n",
        bytes(range(255, -1, -1)) * 12,
        b'a1526759 {"format": "phrasebeam journal 2"}',
    ]
    + [b"notes\n" * 3, b"\x1f\x8b", b"a1526758"],
)
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path, content):
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(FormatError, match=r"j:1: .*this is no journal") as error:
        Journal(tmp_path / "j")
    assert "\n" not in str(error.value) and (tmp_path / "j").read_bytes() == content


def test_damage_in_the_middle_names_the_line(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.confirm(segment(1))
    journal.confirm(segment(2))
    journal.close()
    content = bytearray((tmp_path / "j").read_bytes())
    content[content.index(b'"number": 1') + 10] ^= 1
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        Journal(tmp_path / "j")
    (tmp_path / "j").write_text("some text\n")
    with pytest.raises(FormatError, match="is damaged, or this is no journal"):
        Journal(tmp_path / "j")


def test_what_cannot_be_written_is_not_confirmed(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    journal.confirm(segment(1))
    size = (tmp_path / "j").stat().st_size

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        journal.confirm(segment(2))
    monkeypatch.undo()
    assert list(journal.segments) == [1] and (tmp_path / "j").stat().st_size == size
    journal.confirm(segment(2))
    journal.close()
    again = Journal(tmp_path / "j")
    assert list(again.segments) == [1, 2]
    again.close()


@pytest.mark.needs_jit
def test_answered_segments_survive_kills(tmp_path):
    draw, answered = random.Random(1), 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "j")], stdout=subprocess.PIPE, text=True
        )
        opened = process.stdout.readline().split()
        assert opened[0] == "open" and int(opened[1]) in (answered, answered + 1)  # one may be there unanswered
        time.sleep(draw.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().splitlines()
        process.wait()
        process.stdout.close()
        answered = int(lines[-1]) if lines else int(opened[1])
    journal = Journal(tmp_path / "j")
    assert list(journal.segments) == list(range(1, journal.n_confirmed + 1))
    assert journal.n_confirmed in (answered, answered + 1) and answered > KILLS
    for number, one in journal.segments.items():
        assert one.key == f"key {number}" and one.source == one.translation and len(one.source) == number % 70 + 1
    journal.close()


@pytest.mark.parametrize(
    "record",
    [
        "[1]",
        "[" * 100_000,
        "not JSON",
        '{"undo": [1]}',
        '{"number": 1}',
        '{"number": "1", "source": "a", "translation": "b", "alignment": "", "key": ""}',
        '{"number": 1, "source": "", "translation": 3, "alignment": "", "key": ""}',
        '{"number": 1, "source": "a", "translation": "b", "alignment": "0-1", "key": ""}',
        '{"number": 1, "source": "a", "translation": "b", "alignment": "-1-0", "key": ""}',
        json.dumps({"number": 1, "source": "a " * 1000 + "a", "translation": "b", "alignment": "", "key": ""}),
    ],
)
def test_a_record_of_a_stranger_is_refused(tmp_path, record):
    with open(tmp_path / "j", "wb") as file:
        file.write(HEADER + b"%08x %s\n" % (zlib.crc32(record.encode()), record.encode()))
    with pytest.raises(FormatError, match=r"j:2: "):
        Journal(tmp_path / "j")


def test_a_pipe_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "j")
    with pytest.raises(FormatError, match="not a regular file"):
        Journal(tmp_path / "j")


def removed(path):
    path.unlink()
    return b""


def replaced(path):
    """An older state of it in another file, as from a backup."""
    older = path.read_bytes()[: -len(path.read_bytes().splitlines(True)[-1])]
    path.rename(path.with_name("old"))
    path.write_bytes(older)
    return older


def cut(path):
    path.write_bytes(b"")
    return b""


def copied_over(path):
    """An older state of it in the same file."""
    older = path.read_bytes()[: -len(path.read_bytes().splitlines(True)[-1])]
    path.write_bytes(older)
    return older


def longer(path):
    with open(path, "ab") as file:
        file.write(b"half a record")
    return path.read_bytes()


@pytest.mark.parametrize("change", [removed, replaced, cut, copied_over, longer])
@pytest.mark.parametrize("is_sudden", [False, True])
def test_nothing_is_confirmed_in_a_journal_that_others_have_changed(tmp_path, monkeypatch, change, is_sudden):
    journal, path, write, contents = Journal(tmp_path / "j"), tmp_path / "j", os.write, []
    journal.confirm(segment(1))
    journal.confirm(segment(2))

    def interrupted(file, line):
        contents.append(change(path))  # between the check and the record
        return write(file, line)

    if is_sudden:
        monkeypatch.setattr(os, "write", interrupted)
    else:
        contents.append(change(path))
    with pytest.raises(ChangedJournalError, match="j: removed, replaced or cut by another program"):
        journal.confirm(segment(3))
    monkeypatch.undo()
    assert (path.read_bytes() if path.exists() else b"") == contents[0]
    with pytest.raises(ChangedJournalError):
        journal.undo(1)
    journal.reopen()
    number = journal.n_confirmed + 1
    journal.confirm(segment(number))
    assert number == {removed: 1, replaced: 2, cut: 1, copied_over: 2, longer: 3}[change]
    expected = journal.segments
    journal.close()
    again = Journal(path)
    assert again.segments == expected and list(expected) == list(range(1, number + 1))
    again.close()


def test_a_journal_that_cannot_be_read_again_stays_as_it_was(tmp_path):
    journal, path = Journal(tmp_path / "j"), tmp_path / "j"
    journal.confirm(segment(1))
    whole = path.read_bytes()
    for content in (b"no journal", whole.replace(b"key", b"kex")):
        path.write_bytes(content)
        with pytest.raises(FormatError, match="damaged"):
            journal.reopen()
        with pytest.raises(ChangedJournalError):
            journal.confirm(segment(2))
        assert path.read_bytes() == content and list(journal.segments) == [1]
    path.unlink()
    other = Journal(path)
    with pytest.raises(OpenJournalError):
        journal.reopen()
    other.close()
    path.write_bytes(whole)
    journal.reopen()
    journal.confirm(segment(2))
    journal.close()
    with pytest.raises(ConfigError, match="closed"):
        journal.confirm(segment(3))
    journal.close()
