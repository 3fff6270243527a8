"""The lines of standard input, each as it comes."""

import sys
from collections.abc import Iterator

from phrasebeam.base.files import bad_utf8


def standard_input() -> Iterator[str]:
    """Lines without their ends. Raises FormatError, naming the line, where they are not UTF-8."""
    # A reader of its own: sys.stdin must not be locked by the thread that waits for a line when the process ends.
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise bad_utf8("standard input", number, error) from None
