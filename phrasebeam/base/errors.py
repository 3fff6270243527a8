"""Errors for users: messages say what was found, where it was found, what was expected, and what to do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike

LONGEST_EXCERPT = 80  # characters of a file's content that an error shows
LONGEST_ERROR = 2000  # characters of the whole error, as a last resort


class SmtError(Exception):
    """Base class of errors that a user can correct; the commands print it as one line and exit with status 2."""

    def __str__(self) -> str:
        text = super().__str__()
        return printable(text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}...")


def printable(text: str) -> str:
    """`text` with escapes in place of line ends, control characters and other characters that cannot be printed."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def excerpt(value: object) -> str:
    """`value` (a string, or another value from a file), quoted as by repr and shortened for an error."""
    try:
        # Of a long string only the part that is shown is looked at.
        text = repr(value[: LONGEST_EXCERPT + 1] if isinstance(value, str) else value)
    except ValueError:  # Python refuses to convert integers of thousands of digits to text
        text = "a number of thousands of digits"
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:LONGEST_EXCERPT]}..."


class ConfigError(SmtError):
    """A configuration file or option has an invalid value."""


class ModelError(SmtError):
    """Parts of a model directory are missing or do not fit together."""


class FormatError(SmtError):
    """A file is not in the expected format: `path`, the 1-based `line` if it has lines, and what is wrong."""

    def __init__(self, path: str | PathLike[str], message: str, line: int | None = None):
        self.path, self.line, self.message = path, line, message
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")

    def without_path(self) -> str:
        """The message without the path of the file, for readers who should not see paths."""
        return printable(f"line {self.line}: {self.message}" if self.line is not None else self.message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.message, self.line)  # for errors that are pickled by another process


@contextmanager
def renamed_in_errors(names: Mapping[str, str]) -> Iterator[None]:
    """Show the names of files in place of their paths in a FormatError that is raised within the context."""
    try:
        yield
    except FormatError as error:
        for path, name in names.items():
            error.args = (str(error).replace(path, name),)
            error.path, error.message = str(error.path).replace(path, name), error.message.replace(path, name)
        raise
