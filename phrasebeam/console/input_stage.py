"""The progress of commands that read lines and write lines: a bar if the input is a file and the screen is free."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phrasebeam.base.files import STANDARD_INPUT
from phrasebeam.base.progress import Advance, is_shown, show_progress, stage
from phrasebeam.process.compression import GZIP_MAGIC, ZSTD_MAGIC
from phrasebeam.system.descriptors import open_binary_descriptor, read_at

BLOCK = 1 << 20  # bytes


def input_name(path: Path | None) -> str:
    """The name of the input `path` in messages; None and - are standard input."""
    return STANDARD_INPUT if _is_standard(path) else str(path)


def show_input_progress(source: Path | None, output: Path) -> None:
    """Call show_progress if lines come from a file and are not written to the terminal; a command calls this first."""
    if os.isatty(2) and not _may_be_seen(output) and _is_file(source):
        show_progress()


@contextmanager
def stage_of_input(description: str, source: Path | None, output: Path | None) -> Iterator[Advance]:
    """A stage with one step for each line of `source`. None and - are standard input, as output - is standard output.

    It has a bar only if progress is shown and the lines are not written to the terminal.
    """
    if _may_be_seen(output):
        yield lambda steps: None
        return
    total = _count_lines(source) if is_shown() and _is_file(source) else None
    with stage(description, total, "sentences") as advance:
        yield advance


def _may_be_seen(output: Path | None) -> bool:
    """Whether the lines go to the terminal, or to a pipe: the program that reads it may write them to the terminal."""
    return str(output) == "-" and (sys.stdout.isatty() or stat.S_ISFIFO(os.fstat(1).st_mode))


def _is_file(source: Path | None) -> bool:
    with _opened(source) as descriptor:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)


@contextmanager
def _opened(path: Path | None) -> Iterator[int]:
    """A file descriptor of the input; for standard input it shares the read position."""
    is_standard = _is_standard(path)
    descriptor = os.dup(sys.stdin.fileno()) if is_standard else open_binary_descriptor(str(path), os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_standard(path: Path | None) -> bool:
    return path is None or str(path) == "-"


def _count_lines(source: Path | None) -> int | None:
    """The number of lines after the read position of a file, which is left unchanged; None if it is compressed."""
    n_lines, last = 0, b"\n"
    with _opened(source) as descriptor:
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        if read_at(descriptor, 4, position).startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            return None
        while block := read_at(descriptor, BLOCK, position):
            n_lines, last, position = n_lines + block.count(b"\n"), block[-1:], position + len(block)
    return n_lines + (last != b"\n")
