"""Errors of the system: the file concerned, and advice if memory, threads or open files run out."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phrasebeam.system.limits import address_space_limit

NO_MEMORY = "memory ran out; use fewer --threads or less data, or raise its limit (ulimit -v)"
NO_THREAD = "no further thread can be started; use fewer --threads, or raise the limits (ulimit -u, ulimit -v)"
OF_SYSTEM = {  # for errors that name no file: what they are about, and advice
    errno.EMFILE: ("a file or a pipe", "raise the limit (ulimit -n)"),
    errno.ENFILE: ("a file or a pipe", "end other programs"),
    errno.ENOMEM: ("memory", "use fewer --threads or less data, or raise its limit (ulimit -v)"),
    errno.EAGAIN: ("a process", "use fewer --threads, or raise the limit (ulimit -u)"),
}
# Interpreter, libraries and kernels map 420 to 820 MB of addresses, and up to 1080 MB when kernels are compiled.
LEAST_ADDRESS_SPACE = 5 << 28  # bytes


def shortage(error: BaseException) -> str:
    """The message for an error about a shortage of memory, disk or the like; empty for any other error."""
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return NO_THREAD
    is_lock = isinstance(error, BlockingIOError) and error.filename is not None
    if not isinstance(error, OSError) or error.errno not in OF_SYSTEM or is_lock:
        return ""
    subject, advice = OF_SYSTEM[error.errno]
    return f"{error.filename or subject}: {error.strerror}; {advice}"


def too_few_addresses() -> str:
    """A message if a limit leaves less address space than a command with kernels needs; otherwise empty.

    To be checked before libraries are imported: with too little space they print wrong messages, or end the process.
    """
    limit, needed = address_space_limit(), LEAST_ADDRESS_SPACE
    if limit is None or limit >= needed:
        return ""
    least = f"at least {needed >> 20} MB, and 75 MB more for each of --threads"
    return f"the limit of address space is {limit >> 20} MB, expected {least}; raise it (ulimit -v {needed >> 10})"


@contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Let system errors that name no file name `path`, the file or directory that is written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if type(error) is OSError and error.errno is None:  # raised by numpy, which says only how much was written
            raise OSError(errno.ENOSPC, f"could not be written ({error}); is the disk full?", str(path)) from error
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
