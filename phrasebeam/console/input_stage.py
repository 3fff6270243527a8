"""The progress of commands that read lines and write lines: a bar where the input is a file and the screen is free."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phrasebeam.base.files import STANDARD_INPUT
from phrasebeam.base.progress import Advance, show_progress, stage
from phrasebeam.process.compression import GZIP_MAGIC, ZSTD_MAGIC

BLOCK = 1 << 20  # bytes


def input_name(path: Path | None) -> str:
    """What messages call the input `path`; None and - are standard input."""
    return STANDARD_INPUT if _is_standard(path) else str(path)


@contextmanager
def stage_of_input(description: str, source: Path | None, output: Path | None) -> Iterator[Advance]:
    """A stage of a step for each line of `source`; None and - are standard input, and for `output` standard output.

    It has a bar only where the lines come from a file and the output goes elsewhere than to the terminal.
    """
    if sys.stdout.isatty() and _is_standard(output):
        yield lambda steps: None
        return
    total = None
    if os.isatty(2):
        with _opened(source) as descriptor:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                show_progress()
                total = _count_lines(descriptor)
    with stage(description, total, "sentences") as advance:
        yield advance


@contextmanager
def _opened(path: Path | None) -> Iterator[int]:
    """A descriptor of the input, which shares the position of standard input."""
    is_standard = _is_standard(path)
    descriptor = os.dup(sys.stdin.fileno()) if is_standard else os.open(str(path), os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_standard(path: Path | None) -> bool:
    return path is None or str(path) == "-"


def _count_lines(descriptor: int) -> int | None:
    """The lines of a file from where it is read on, which does not change; None where it is compressed."""
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    n_lines, last = 0, b"\n"
    if os.pread(descriptor, 4, position).startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return None
    while block := os.pread(descriptor, BLOCK, position):
        n_lines, last, position = n_lines + block.count(b"\n"), block[-1:], position + len(block)
    return n_lines + (last != b"\n")
