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
from phrasebeam.decoder.adaptation.journal import Journal
from phrasebeam.decoder.adaptation.segment import Segment

KILLS = 50
# Goes on with what is there, and answers on standard output when a segment is on disk.
WRITER = """
import sys
from phrasebeam.decoder.adaptation.journal import Journal
from phrasebeam.decoder.adaptation.segment import Segment
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


def test_half_a_record_at_the_end_is_cut_off(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.confirm(segment(1))
    journal.confirm(segment(2))
    journal.close()
    whole = (tmp_path / "j").read_bytes()
    first_two = whole[: whole[:-1].rindex(b"\n") + 1]
    for size in range(len(first_two), len(whole)):
        (tmp_path / "j").write_bytes(whole[:size])
        cut = Journal(tmp_path / "j")
        assert list(cut.segments) == [1]
        cut.close()
        assert (tmp_path / "j").read_bytes() == first_two


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
    Journal(tmp_path / "j").close()
    with open(tmp_path / "j", "ab") as file:
        file.write(b"%08x %s\n" % (zlib.crc32(record.encode()), record.encode()))
    with pytest.raises(FormatError, match=r"j:2: "):
        Journal(tmp_path / "j")


def test_a_pipe_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "j")
    with pytest.raises(FormatError, match="no regular file"):
        Journal(tmp_path / "j")
