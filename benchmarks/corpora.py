"""The files of the corpora for measurements: those for training, tuning and testing."""

import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.files import atomic_file
from phrasebeam.check_data import CORPORA, MeasuredCorpus
from phrasebeam.training.bitext.bitext_files import BitextFiles

__all__ = ["CORPORA"]
MASK = re.compile(rb"<[ST]_")
HELD_OUT = 500  # last training pairs, used as the test set of a corpus without a test set


class Files(NamedTuple):
    """Training text, its alignment, and test text."""

    source: Path
    target: Path
    alignment: Path
    test_source: Path
    test_target: Path


def prepare(data: Path, corpus: MeasuredCorpus, directory: Path) -> Files:
    """The files to train and test on. If a test set is split off the training text, both are written to `directory`."""
    languages = corpus.source, corpus.target
    alignment = f"train.align.{corpus.source}-{corpus.target}"
    train = [data / f"train.{languages[0]}", data / f"train.{languages[1]}", data / alignment]
    if corpus.test:
        return Files(*train, *(data / f"{corpus.test}.{language}" for language in languages))
    parts = []
    for path in train:
        lines = path.read_bytes().splitlines(keepends=True)
        parts.append(directory / path.name)
        parts[-1].write_bytes(b"".join(lines[:-HELD_OUT]))
        (directory / path.name.replace("train", "test")).write_bytes(b"".join(lines[-HELD_OUT:]))
    return Files(*parts, *(directory / f"test.{language}" for language in languages))


def development_of(data: Path, corpus: MeasuredCorpus) -> list[Path]:
    """Source and target of the development set."""
    return [data / f"{corpus.development}.{language}" for language in (corpus.source, corpus.target)]


def head(path: Path, n_lines: int, directory: Path) -> Path:
    """A file of the first lines of `path`."""
    beginning = directory / f"{path.name}.head"
    with open(path, "rb") as text:
        beginning.write_bytes(b"".join(islice(text, n_lines)))
    return beginning


def unmasked(files: Files, directory: Path, n_pairs: int | None) -> BitextFiles:
    """The training data without pairs with masked words; only the first `n_pairs` of them, if that is given."""
    paths = files.source, files.target, files.alignment
    own = [directory / path.name for path in paths]
    if all(path.exists() for path in own):
        return BitextFiles(own[0], [own[1]], own[2])
    lines = [path.read_bytes().splitlines(keepends=True) for path in paths]
    kept = list(islice((row for row in zip(*lines) if not any(map(MASK.search, row))), n_pairs))
    if len(kept) == len(lines[0]):
        return BitextFiles(paths[0], [paths[1]], paths[2])
    print(f"{files.source}: {len(kept):,} of {len(lines[0]):,} pairs", flush=True)
    for path, column in zip(own, zip(*kept)):
        with atomic_file(path) as file:
            file.writelines(column)
    return BitextFiles(own[0], [own[1]], own[2])
