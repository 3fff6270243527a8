"""Names for errors of the system that do not tell the file, such as that of a full disk."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Errors of the system that name no file name `path`, the file or directory that is written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if type(error) is OSError and error.errno is None:  # numpy's, which says only how much was written
            raise OSError(errno.ENOSPC, f"could not be written ({error}); is the disk full?", str(path)) from error
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
