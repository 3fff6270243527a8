"""Reading UTF-8 text, plain or compressed, and writing files and directories atomically."""

import errno
import gzip
import io
import os
import sys
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.process.compression import compressed, decompressed
from phrasebeam.process.directory_lock import check_free
from phrasebeam.process.hints import hint
from phrasebeam.process.starting_line import clear_starting_line
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.process.unfinished import put_in_place, unfinished_directory, unfinished_file

LONGEST_LINE = 2**24  # bytes; longer lines are refused, so that no more of a file is in memory
BLOCK = 1 << 20  # bytes
STANDARD_INPUT = "standard input"


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a UTF-8 text file, plain or compressed (recognised by content), without their line ends.

    Only "\\n" and "\\r\\n" end a line: other Unicode line separators occur inside sentences. A byte order mark at the
    beginning is left out. Raises FormatError, naming the line, for other encodings and damaged compressed data.
    """
    with open_binary(path) as file:
        yield from _lines(file, path)


def read_standard_input() -> Iterator[str]:
    """Lines of standard input, as read_lines gives those of a file, each as soon as it arrives."""
    clear_starting_line()
    # This opens a reader of its own: a thread that waits for a line would keep sys.stdin locked when the process ends.
    with named_in_errors(Path(STANDARD_INPUT)):
        file = open(sys.stdin.fileno(), "rb", closefd=False)
        plain = decompressed(file)
    with file:
        yield from _lines(plain, STANDARD_INPUT)


def read_input(path: str | Path | None) -> Iterator[str]:
    """Lines of the file `path`; None and - mean standard input."""
    return read_standard_input() if path is None or str(path) == "-" else read_lines(path)


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """The lines of a text as from `read_lines`, but with line ends, in blocks of whole lines of about BLOCK bytes."""
    with open_binary(path) as file:
        yield from _blocks(file, path, BLOCK)


def _lines(file: BinaryIO, name: str | Path) -> Iterator[str]:
    for block in _blocks(file, name, 1):
        lines = block.decode("utf-8").split("\n")
        if not lines[-1]:
            lines.pop()
        yield from [line.rstrip("\r") for line in lines] if b"\r" in block else lines


def _blocks(file: BinaryIO, name: str | Path, size: int) -> Iterator[bytes]:
    """Blocks of whole lines, each as soon as it has `size` bytes. Errors are raised after all lines before them."""
    number, rest, end = 0, b"", None
    with named_in_errors(Path(name)):
        while end is None:
            block, rest, end = _next_block(file, rest, size)
            mark = len(BOM_UTF8) if number == 0 and block.startswith(BOM_UTF8) else 0
            if mark:
                hint(f"{name}: begins with a byte order mark (BOM), which was removed")
            sound, refused = _sound_lines(block, mark)
            number += sound.count(b"\n")
            if sound:
                yield sound[mark:] or b"\n"
            if refused:
                raise FormatError(name, refused, number + 1)
    if end:
        raise FormatError(name, f"damaged compressed data after line {number} ({end}); copy the file again")


def _next_block(file: BinaryIO, rest: bytes, size: int) -> tuple[bytes, bytes, str | None]:
    """The next whole lines, which begin with `rest`; the bytes after them; and None, or at the end of the file "".

    If compressed data are damaged, the third value is the error.
    """
    pieces, n_bytes, has_end, end = [rest], len(rest), False, None
    while end is None and n_bytes < LONGEST_LINE and not (has_end and n_bytes >= size):
        try:
            piece = cast(io.BufferedReader, file).read1()  # the bytes that have arrived, as many as readline would take
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            end = str(error) or repr(error)
        else:
            end = None if piece else ""
            pieces.append(piece)
            n_bytes, has_end = n_bytes + len(piece), has_end or b"\n" in piece
    block = b"".join(pieces)
    whole = block.rfind(b"\n") + 1
    if end == "" or len(block) - whole >= LONGEST_LINE:
        return block, b"", ""
    return block[:whole], block[whole:], end


def _sound_lines(block: bytes, mark: int) -> tuple[bytes, str]:
    """The lines before the first invalid one, and why that is invalid, or ""; `mark`: bytes of a byte order mark."""
    end, refused, begin = len(block), "", 0
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        end = block.rfind(b"\n", 0, error.start) + 1
        byte, column = block[error.start], error.start + 1 - max(end, mark)
        refused = f"byte 0x{byte:02x} at column {column} is not UTF-8; convert it (iconv -t UTF-8)"
    while begin <= end and len(block) - begin >= LONGEST_LINE:
        behind = block.find(b"\n", begin) + 1 or len(block)
        if behind - begin >= LONGEST_LINE:
            return block[:begin], f"a line of {LONGEST_LINE} bytes or more, expected text of a sentence a line"
        begin = behind
    return block[:end], refused


def open_binary(path: str | Path) -> BinaryIO:
    """Open a file for reading bytes, decompressed if it is compressed. Raises OSError if that fails."""
    with named_in_errors(Path(path)):
        return decompressed(open(path, "rb"))


@contextmanager
def atomic_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that replaces `path` when the block ends without an exception; otherwise it is removed.

    The content is compressed if the name ends in .gz or .zst.

    Unfinished files that killed processes left beside it are removed, too.
    """
    path = Path(path)
    # Devices and pipes are written to directly, as is /dev/stderr or /dev/fd/3 if it links to an ordinary file.
    if str(path.parent) in ("/dev", "/dev/fd") or (path.exists() and not path.is_file()):
        with named_in_errors(path), open(path, "wb") as device, compressed(cast(BinaryIO, device), path.name) as plain:
            yield plain
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with named_in_errors(path), unfinished_file(path.parent, path.name) as unfinished:
        with open(unfinished, "w+b") as file:
            with compressed(cast(BinaryIO, file), path.name) as plain:
                yield plain
            file.flush()
            os.fsync(file.fileno())
        os.chmod(unfinished, 0o666 & ~_umask())
        put_in_place(unfinished, path)


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines, given without their ends, to a file in UTF-8, atomically."""
    with atomic_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def real_path(path: str | Path) -> Path:
    """The absolute path, without symbolic links; a link that leads to itself stays. (Path.resolve would raise.)"""
    return Path(os.path.realpath(path))


def check_keeps_inputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None]) -> None:
    """Raise ConfigError if an output is one of the inputs, or a directory that contains one.

    None, - and devices are ignored.
    """
    read = {one for path in inputs if path is not None for one in (real_path(path), *real_path(path).parents)}
    for path in outputs:
        if path is None or str(path) == "-" or Path(path).is_char_device():
            continue
        if real_path(path) in read:
            raise ConfigError(f"{path}: is an input and would be replaced; give another output file")


def check_regular(directory: Path) -> None:
    """Raise FormatError if a pipe, a socket or a device is in `directory`: opening one may block for ever."""
    for folder, _, names in os.walk(directory):
        for path in (Path(folder, name) for name in names):
            if path.exists() and not path.is_file():
                raise FormatError(path, "a pipe, socket or device, expected a regular file; remove it")


@contextmanager
def atomic_directory(path: str | Path) -> Iterator[Path]:
    """A new directory that replaces `path` when the block ends without an exception; otherwise it is removed.

    An old directory at `path` stays whole until the new one is complete; a symbolic link to one is kept. Unfinished
    directories that killed processes left beside it are removed. Raises NotADirectoryError if `path` is anything else,
    BlockingIOError if another process trains in the old directory.
    """
    path = real_path(path)
    if os.path.lexists(path):
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        check_free(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with named_in_errors(path), unfinished_directory(path.parent, path.name) as unfinished:
        yield unfinished
        os.chmod(unfinished, 0o777 & ~_umask())
        put_in_place(unfinished, path)


@contextmanager
def scratch_directory(folder: str | Path | None = None) -> Iterator[Path]:
    """A directory for temporary files in `folder` (None: the system's, $TMPDIR). It is removed when the block ends.

    Such directories that killed processes left in the folder are removed, too.
    """
    folder = Path(folder or tempfile.gettempdir())
    with named_in_errors(folder), unfinished_directory(folder, "phrasebeam") as directory:
        yield directory


@contextmanager
def output_file(path: str | Path | None) -> Iterator[BinaryIO]:
    """The atomic file `path`; None and - mean standard output."""
    if path is None or str(path) == "-":
        yield sys.stdout.buffer
    else:
        with atomic_file(path) as file:
            yield file


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
