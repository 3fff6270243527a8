"""The texts of a recipe: training data, development data in two parts, test sets; and what they have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.training.bitext.bitext_files import BitextFiles

LEAST_SENTENCES = 10  # of the development data


class RecipeFiles(NamedTuple):
    """What the user gave."""

    training: BitextFiles
    development: BitextFiles
    test: BitextFiles | None = None

    @property
    def by_name(self) -> dict[str, Path]:
        """All files, by names for digests."""
        files = {"source": self.training.source, "target": self.training.target}
        for name, data in {"development": self.development, "test": self.test}.items():
            files |= {f"{name} {kind}": path for kind, path in data.sets_by_name.items()} if data else {}
        return files | ({"alignment": self.training.alignment} if self.training.alignment else {})


@dataclass(frozen=True)
class DividedData:
    """Tokenized files: what is tuned on, what decides, and what only reports."""

    tuning: BitextFiles
    deciding: BitextFiles
    test: BitextFiles | None


def check_lengths(files: RecipeFiles) -> dict[str, int]:
    """Sentences of each part. Raises FormatError or OSError where a file is missing, empty or of another length."""
    found = {}
    for name, paths in ((name, data.parallel) for name, data in files._asdict().items() if data):
        lengths = [sum(1 for _ in read_lines(path)) for path in paths]
        if not lengths[0]:
            raise FormatError(paths[0], "no lines; expected sentences, one a line")
        for path, length in zip(paths, lengths):
            if length != lengths[0]:
                raise FormatError(path, f"{length} lines, but {paths[0]} has {lengths[0]}; each line must match")
        found[name] = lengths[0]
    if found["development"] < LEAST_SENTENCES:
        raise ConfigError(
            f"{files.development.source}: {found['development']} sentences, expected {LEAST_SENTENCES} or more"
        )
    return found


def seen_in_training(files: RecipeFiles) -> dict[str, int]:
    """How many source sentences of the development and test data stand in the training data, word for word."""
    sets = {"development": files.development} | ({"test": files.test} if files.test else {})
    wanted = {name: [line.strip() for line in read_lines(data.source)] for name, data in sets.items()}
    every = {line for lines in wanted.values() for line in lines}
    common = {line.strip() for line in read_lines(files.training.source)} & every
    return {name: sum(line in common for line in lines) for name, lines in wanted.items()}


def divided(data: BitextFiles, share: float, directory: Path) -> tuple[BitextFiles, BitextFiles]:
    """What is tuned on, and what decides: every k-th sentence, about `share` of them, or all where it is 0."""
    if not share:
        return data, data
    step = max(2, round(1 / share))
    files = data.parallel
    names = ["source", *(f"reference.{i}" for i in range(1, len(files)))]
    for path, name in zip(files, names):
        lines = list(read_lines(path))
        decides = [i % step == step - 1 for i in range(len(lines))]
        for part, wanted in (("tuning", False), ("deciding", True)):
            chosen = [line for line, is_deciding in zip(lines, decides) if is_deciding == wanted]
            _write(directory / f"{part}.{name}", chosen)
    return _part(directory, "tuning", names), _part(directory, "deciding", names)


def _part(directory: Path, part: str, names: Sequence[str]) -> BitextFiles:
    source, *references = (directory / f"{part}.{name}" for name in names)
    return BitextFiles(source, references)


def tokenized(data: BitextFiles, model: Path, directory: Path, name: str) -> BitextFiles:
    """Raw development data as tokens, as the model was made. Raises SmtError."""
    from phrasebeam.decoder.raw_text.preprocessing import RawText

    raw = RawText.load(model)
    source = directory / f"{name}.source.tokens"
    _write(source, map(raw.source.line, read_lines(data.source)))
    references = []
    for number, path in enumerate(data.references, 1):
        references.append(directory / f"{name}.reference.{number}.tokens")
        _write(references[-1], map(raw.target.line, read_lines(path)))
    return BitextFiles(source, references)


def _write(path: Path, lines: object) -> None:
    with atomic_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)  # type: ignore[attr-defined]
