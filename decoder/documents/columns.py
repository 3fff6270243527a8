"""Two columns of a table, named by its header or by number."""

from collections.abc import Sequence
from pathlib import Path

from phrasebeam.base.errors import ConfigError, FormatError, excerpt


class Columns:
    """Columns of source and target in a table, by number or by name; with names the first row is a header."""

    def __init__(self, path: str | Path, source: str | int | None = None, target: str | int | None = None):
        self._path, self._names = path, ("1" if source is None else str(source), "2" if target is None else str(target))
        numbers = [int(name) for name in self._names if name.isdecimal()]
        if len(numbers) == 1:
            raise ConfigError(f"{path}: columns {' and '.join(self._names)}; give names for both, or numbers for both")
        if 0 in numbers:
            raise ConfigError(f"{path}: column 0, expected 1 or more; the first column is 1")
        self.has_header = not numbers
        self.places: tuple[int, int] | None = (numbers[0] - 1, numbers[1] - 1) if numbers else None

    def pair(self, row: Sequence[str], line: int) -> tuple[str, str] | None:
        """Source and target of a row; None for the header or an empty line. Raises FormatError, ConfigError."""
        if not row or list(row) == [""]:
            return None
        if self.places is None:
            self.places = self._place(row, self._names[0]), self._place(row, self._names[1])
            return None
        source, target = self.places
        if len(row) <= max(source, target):
            found = f"{len(row)} column{'s' * (len(row) > 1)}, expected at least {max(source, target) + 1}"
            raise FormatError(self._path, f"{found}; add the missing columns, or remove the line", line)
        return row[source], row[target]

    def _place(self, header: Sequence[str], name: str) -> int:
        names = [one.strip() for one in header]
        if name not in names:
            raise ConfigError(
                f"{self._path}: no column {excerpt(name)} in its first line, expected one of "
                f"{', '.join(map(excerpt, names))}, or numbers"
            )
        return names.index(name)
