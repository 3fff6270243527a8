"""Lines in blocks, as bytes come, against lines one by one."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phrasebeam.base import files
from phrasebeam.base.errors import FormatError
from tests.naive import lines as naive

LONGEST = 12
PARTS = [
    b"a",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xc3\xa9",
    b"\xc3",
    b"\xa9",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\0",
    b"0123456",
]
PIECES = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map(b"".join), max_size=8)


class Slow:
    """A file of which each piece comes alone."""

    def __init__(self, pieces):
        self.pieces = list(pieces)

    def read1(self):
        return self.pieces.pop(0) if self.pieces else b""


@settings(max_examples=1000)
@given(PIECES, st.sampled_from([1, 5, 1000]))
@example([b"\xef\xbb\xbfaaa", b"aaaaaa", b"a"], 1)
@example([b"\xef\xbb\xbf"], 1)
@example([b"\xef\xbb\xbfa\xff"], 5)
def test_same_as_line_by_line(pieces, size):
    lines, problem = naive.read_lines(b"".join(pieces), LONGEST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LONGEST_LINE", LONGEST)
        assert until_refused(files._lines(Slow(pieces), "text")) == (lines, problem)
        blocks, found = until_refused(files._blocks(Slow(pieces), "text", size))
    assert found == problem
    assert [line for block in blocks for line in split(block)] == lines
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def split(block):
    text = block.decode()
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]


def until_refused(found):
    """What is found before an error, and its message."""
    items = []
    try:
        for item in found:
            items.append(item)
    except FormatError as error:
        return items, str(error)
    return items, None


def test_a_line_is_given_when_it_has_come():
    lines = files._lines(Slow([b"a\nb", b"c\n"]), "text")
    assert next(lines) == "a"
