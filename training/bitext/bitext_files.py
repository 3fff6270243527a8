"""The files of a bitext: training, development and test data of all commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BitextFiles:
    """Files that are parallel line by line: sentences, their translations, and perhaps their word alignment."""

    source: Path
    references: Sequence[Path]  # exactly one for training data, one or more for development data
    alignment: Path | None = None  # in Pharaoh's format
    left_out: Path | None = None  # numbers of the lines that training leaves out, from 1, one a line

    @property
    def target(self) -> Path:
        """The first file of translations. Training data have only one."""
        return self.references[0]

    @property
    def parallel(self) -> list[Path]:
        """All files that have a line for each sentence."""
        return [self.source, *self.references, *([self.alignment] if self.alignment else [])]

    @property
    def by_name(self) -> dict[str, Path]:
        """The files of training data, by their names in records of runs (model.yaml, work.yaml)."""
        files = {"source": self.source, "target": self.target}
        files |= {"alignment": self.alignment} if self.alignment else {}
        return files | ({"left out": self.left_out} if self.left_out else {})

    @property
    def sets_by_name(self) -> dict[str, Path]:
        """The files of development data, by their names in records of runs (model.yaml, work.yaml)."""
        return {"source": self.source} | {f"reference {i}": path for i, path in enumerate(self.references, 1)}
