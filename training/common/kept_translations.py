"""Translations of the development set by the weights of each iteration, kept beside a run for its report."""

from collections.abc import Iterable
from pathlib import Path

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines

FOLDER = "translations"  # in the directory of a run


def save_texts(texts: Iterable[str], path: Path) -> None:
    """Write translations, one a line."""
    with atomic_file(path) as file:
        file.writelines(f"{text}\n".encode() for text in texts)


def keep_translations(run: Path, iteration: int, texts: Iterable[str]) -> None:
    """Keep the translations of an iteration in the directory `run`."""
    (run / FOLDER).mkdir(parents=True, exist_ok=True)
    save_texts(texts, _path(run, iteration))


def translations_of(run: Path, iteration: int, n_sentences: int) -> list[str]:
    """Kept translations of an iteration. Raises FormatError where these are not so many sentences."""
    path = _path(run, iteration)
    texts = list(read_lines(path)) if path.exists() else []
    if len(texts) != n_sentences:
        mend = f"delete {run}, and the run begins again"
        raise FormatError(path, f"{len(texts)} translations, expected {n_sentences}; {mend}")
    return texts


def kept_translations(run: Path) -> dict[int, list[str]]:
    """Kept translations of a run, by iteration; none where it is of an older version."""
    paths = sorted((run / FOLDER).glob("*.txt"))
    return {int(path.stem): [line.rstrip("\n") for line in read_lines(path)] for path in paths if path.stem.isdigit()}


def _path(run: Path, iteration: int) -> Path:
    return run / FOLDER / f"{iteration:03}.txt"
