"""The files of a bitext: training, development and test data of all commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BitextFiles:
    """Files that are parallel line by line: sentences, their translations, and perhaps their word alignment."""

    source: Path
    references: Sequence[Path]  # one of training data; of development data one or more
    alignment: Path | None = None  # lines as in Pharaoh's format
    left_out: Path | None = None  # numbers of lines, from 1, that are not learned from, one a line

    @property
    def target(self) -> Path:
        """The first file of translations, the only one of training data."""
        return self.references[0]

    @property
    def parallel(self) -> list[Path]:
        """All files that have a line for each sentence."""
        return [self.source, *self.references, *([self.alignment] if self.alignment else [])]

    @property
    def by_name(self) -> dict[str, Path]:
        """The files of training data by their names in records of runs."""
        files = {"source": self.source, "target": self.target}
        files |= {"alignment": self.alignment} if self.alignment else {}
        return files | ({"left out": self.left_out} if self.left_out else {})

    @property
    def sets_by_name(self) -> dict[str, Path]:
        """The files of development data by their names in records of runs."""
        return {"source": self.source} | {f"reference {i}": path for i, path in enumerate(self.references, 1)}
