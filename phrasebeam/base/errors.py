"""The errors that people see: what was found, where, what was expected, what to do."""

from os import PathLike


class SmtError(Exception):
    """Anything that a user can mend; the commands print it as one line and exit with status 2."""


class ConfigError(SmtError):
    """A configuration file or option that says something impossible."""


class ModelError(SmtError):
    """A model directory whose parts are missing or do not fit together."""


class FormatError(SmtError):
    """A file that is not what it should be: `path`, the 1-based `line` if it has lines, what is wrong."""

    def __init__(self, path: str | PathLike[str], message: str, line: int | None = None):
        self.path, self.line = path, line
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")
