"""Copies of the development set, and of its translations in each iteration, which are kept for the report of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines, write_lines

FOLDER = "translations"  # in the directory of a run
DEVELOPMENT = "development"  # in the directory of the work


class KeptSet(NamedTuple):
    """Source sentences and references of a development set."""

    source: Sequence[str]  # empty if the source is lattices, not text
    references: Sequence[Sequence[str]]  # one list for each set of references


def keep_development(work: Path, source: Path | None, references: Iterable[Path]) -> None:
    """Copy a development set to the directory `work`; `source` is None if the source sentences are not text."""
    named = {f"reference.{number}.txt": path for number, path in enumerate(references, 1)}
    (work / DEVELOPMENT).mkdir(parents=True, exist_ok=True)
    for name, path in (named | ({"source.txt": source} if source else {})).items():
        write_lines(work / DEVELOPMENT / name, read_lines(path))


def kept_development(work: Path) -> KeptSet | None:
    """The development set of a run; None if an older version made the run, without a copy."""
    source, *references = (work / DEVELOPMENT / name for name in ("source.txt", *_reference_names(work)))
    if not references:
        return None
    return KeptSet(kept_lines(source) if source.is_file() else [], [kept_lines(path) for path in references])


def _reference_names(work: Path) -> list[str]:
    names = {path.name for path in (work / DEVELOPMENT).glob("reference.*.txt")}
    return [name for number in range(1, len(names) + 1) if (name := f"reference.{number}.txt") in names]


def kept_lines(path: Path) -> list[str]:
    """The lines of a file that write_lines wrote."""
    return [line.rstrip("\n") for line in read_lines(path)]


def keep_translations(run: Path, iteration: int, texts: Iterable[str]) -> None:
    """Write the translations of an iteration to the directory `run`."""
    (run / FOLDER).mkdir(parents=True, exist_ok=True)
    write_lines(_path(run, iteration), texts)


def translations_of(run: Path, iteration: int, n_sentences: int) -> list[str]:
    """Read the translations of an iteration. Raises FormatError unless there are `n_sentences`."""
    path = _path(run, iteration)
    texts = list(read_lines(path)) if path.exists() else []
    if len(texts) != n_sentences:
        mend = f"delete {run}, and the run begins again"
        raise FormatError(path, f"{len(texts)} translations, expected {n_sentences}; {mend}")
    return texts


def kept_translations(run: Path) -> dict[int, list[str]]:
    """Read the translations of a run, by iteration; there are none if an older version made the run."""
    paths = sorted((run / FOLDER).glob("*.txt"))
    return {int(path.stem): kept_lines(path) for path in paths if path.stem.isdigit()}


def _path(run: Path, iteration: int) -> Path:
    return run / FOLDER / f"{iteration:03}.txt"
