"""Sentence pairs of a recipe's training data that repeat others: found, told, and left out as the recipe says."""

from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import log
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.recipe.recipe import TwinSettings
from phrasebeam.training.recipe.recipe_data import RecipeFiles
from phrasebeam.training.twins.twins import Twins, twins_of_files

MOST_INVOLVED = 0.5  # of all pairs; where more are twins, too few would be left to learn from
FATES = {
    "learning": "these and those that they repeat are not learned from, since leave-one-out cannot hold them out",
    "model": "they are left out of the model, and not learned from",
}


class TwinData(NamedTuple):
    """The training data as stages read them, and what was found in them."""

    files: RecipeFiles
    left_out: Path | None  # numbers of lines of these files that are not learned from
    note: str = ""  # how many pairs repeat others, and what becomes of them


def without_twins(files: RecipeFiles, settings: TwinSettings, directory: Path) -> TwinData:
    """Find the twins of the training data, tell of them, and write to `directory` what is read in place of the files.

    Raises FormatError or OSError.
    """
    if settings.left_out_of == "nothing":
        return TwinData(files, None)
    twins = twins_of_files(files.training.source, files.training.target, settings.share)
    n_repeats, n_equal = int(twins.repeats.sum()), int(twins.is_equal.sum())
    if not n_repeats:
        return TwinData(files, None)
    left_out_of = settings.left_out_of
    if left_out_of == "auto":
        left_out_of = "model" if twins.involved.mean() > MOST_INVOLVED else "learning"
    found = f"{n_repeats:,} of {twins.first.size:,} training pairs repeat others ({n_equal:,} word for word)"
    note = f"{found}: {FATES[left_out_of]}"
    log.warning("%s", note)
    directory.mkdir(parents=True, exist_ok=True)
    if left_out_of == "model":
        return TwinData(_others(files, twins, directory), None, note)
    path = directory / "twins"
    with atomic_file(path) as file:
        file.writelines(f"{number}\n".encode() for number in np.flatnonzero(twins.involved) + 1)
    return TwinData(files, path, note)


def _others(files: RecipeFiles, twins: Twins, directory: Path) -> RecipeFiles:
    """The files with the pairs alone that repeat no other."""

    def copy(path: Path, name: str) -> Path:
        with atomic_file(directory / f"training.{name}") as file:
            file.writelines(f"{line}\n".encode() for line in compress(read_lines(path), ~twins.repeats))
        return directory / f"training.{name}"

    training = files.training
    alignment = copy(training.alignment, "alignment") if training.alignment else None
    others = BitextFiles(copy(training.source, "source"), [copy(training.target, "target")], alignment)
    return files._replace(training=others)
