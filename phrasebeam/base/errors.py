"""Errors for users: messages say what was found, where, what was expected, and what to do."""

from os import PathLike


class SmtError(Exception):
    """Base class of errors that a user can correct; the commands print it as one line and exit with status 2."""


class ConfigError(SmtError):
    """A configuration file or option has an invalid value."""


class ModelError(SmtError):
    """Parts of a model directory are missing or do not fit together."""


class FormatError(SmtError):
    """A file is not in the expected format: `path`, the 1-based `line` if it has lines, and what is wrong."""

    def __init__(self, path: str | PathLike[str], message: str, line: int | None = None):
        self.path, self.line = path, line
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")
