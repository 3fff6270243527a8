"""The texts of a recipe: training data without twins, development data in two parts, test sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import read_lines, write_lines
from phrasebeam.base.progress import log, stage
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.cleaning import write_cleaned
from phrasebeam.training.bitext.pair_files import Columns
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.recipe_texts.held_out_pairs import hold_out
from phrasebeam.training.recipe_texts.varieties import written_otherwise
from phrasebeam.training.twins.twins import twins_of_files

NO_DEVELOPMENT = (
    "no development data; give --dev-source and --dev-reference, or --dev-folds to hold out training sentences"
)
LEAST_SENTENCES = 10  # minimum number of sentences of development data
MOST_INVOLVED = 0.5  # if more than this share of pairs are twins, too few others would be left to learn from
FATES = {
    "learning": "trainers ignore these and those that they repeat, since leave-one-out cannot hold them out",
    "model": "they are left out of the model and of training",
}
Share = Annotated[float, Field(gt=0, le=1)]


class Dictionary(NamedTuple):
    """A file of words or phrases with their translations (TSV, TMX, XLIFF or PO), and its columns or languages."""

    path: Path
    columns: Columns = (None, None)


class RecipeFiles(NamedTuple):
    """The files given by the user."""

    training: BitextFiles
    development: BitextFiles | None = None  # None: training pairs are held out
    test: BitextFiles | None = None
    dictionary: Dictionary | None = None  # added to the training data
    held_out_of: BitextFiles | None = None  # all training data, if the development data were held out from them

    @property
    def tuned_on(self) -> BitextFiles:
        """The development data. Raises ConfigError if there are none."""
        if self.development is None:
            raise ConfigError(NO_DEVELOPMENT)
        return self.development

    @property
    def whole(self) -> BitextFiles:
        """All training data, including the pairs that were held out."""
        return self.held_out_of or self.training

    @property
    def by_name(self) -> dict[str, Path]:
        """All files, by the names of their digests."""
        files = {"source": self.training.source, "target": self.training.target}
        for name, data in {"development": self.development, "test": self.test}.items():
            files |= {f"{name} {kind}": path for kind, path in data.sets_by_name.items()} if data else {}
        if self.held_out_of:
            files |= {f"whole {name}": path for name, path in self.held_out_of.by_name.items()}
        return files | ({"alignment": self.training.alignment} if self.training.alignment else {})


class TwinSettings(Section):
    """How to treat twins, sentence pairs that repeat others of the training data; see phrasebeam.training.twins."""

    share: Share = Field(
        0.55,
        description=(
            "share of the words, in the same order, that two pairs must have in common on both sides to be twins"
        ),
    )
    left_out_of: Literal["auto", "learning", "model", "nothing"] = Field(
        "auto",
        description="where twins are left out. learning: trainers learn from no twins; model: repetitions are left "
        "out of the model and of training, and the trainers learn from the pairs that they repeat; "
        "auto: model if more than half of all pairs are twins, else learning; nothing: twins are not "
        "searched",
    )


class CleanedData(NamedTuple):
    """The files, with cleaned training data if cleaning was requested."""

    files: RecipeFiles
    notes: Sequence[str] = ()  # messages on pairs left out and repairs
    n_kept: int | None = None  # number of sentence pairs after cleaning; None: all
    entries: BitextFiles | None = None  # entries of the dictionary


class TwinData(NamedTuple):
    """The files as stages read them, and the twins found in the training data."""

    files: RecipeFiles
    left_out: Path | None  # file with the numbers of the lines that trainers leave out; None: none
    note: str = ""  # message on the number of twins and how they are treated


@dataclass(frozen=True)
class DividedData:
    """Data to tune on, tokenized and as given; data that decide which stages are kept, and a test set, as given."""

    tuning: BitextFiles
    tuning_text: BitextFiles
    deciding: BitextFiles
    test: BitextFiles | None


def check_lengths(files: RecipeFiles) -> dict[str, int]:
    """The number of sentences of each set. Raises FormatError or OSError for missing, empty and not parallel files."""
    found = {}
    given = {"training": files.training, "development": files.development, "test": files.test}
    for name, paths in ((name, data.parallel) for name, data in given.items() if data):
        lengths = [sum(1 for _ in read_lines(path)) for path in paths]
        if not lengths[0]:
            raise FormatError(paths[0], "no lines; expected sentences, one per line")
        for path, length in zip(paths, lengths):
            if length != lengths[0]:
                raise FormatError(path, f"{length} lines, but {paths[0]} has {lengths[0]}; each line must match")
        found[name] = lengths[0]
    if files.development and found["development"] < LEAST_SENTENCES:
        raise ConfigError(
            f"{files.development.source}: {found['development']} sentences, expected {LEAST_SENTENCES} or more"
        )
    return found


def divided(data: BitextFiles, share: float, directory: Path) -> tuple[BitextFiles, BitextFiles]:
    """Divide development data into a part to tune on and a part that decides, which has every k-th sentence.

    `share`: the share of the deciding part; 0: both parts are all data.
    """
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
            write_lines(directory / f"{part}.{name}", chosen)
    return _part(directory, "tuning", names), _part(directory, "deciding", names)


def _part(directory: Path, part: str, names: Sequence[str]) -> BitextFiles:
    source, *references = (directory / f"{part}.{name}" for name in names)
    return BitextFiles(source, references)


def cleaned(files: RecipeFiles, settings: TrainModelConfig, directory: Path) -> CleanedData:
    """Clean the training data, if settings say so; the cleaned files are written to `directory`.

    Development and test data stay as they are. Raises FormatError or OSError.
    """
    training = files.training
    if not settings.is_cleaned:
        return CleanedData(files)
    sides = [training.source, training.target]
    outputs = [directory / f"cleaned.{name}" / path.name for name, path in zip(("source", "target"), sides)]
    cleaner = settings.cleaner
    notes = write_cleaned(sides, outputs, cleaner)
    return CleanedData(files._replace(training=BitextFiles(outputs[0], outputs[1:])), notes, cleaner.n_kept)


def without_twins(files: RecipeFiles, settings: TwinSettings, directory: Path) -> TwinData:
    """Find and report twins of the training data; files without them are written to `directory`.

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
        return TwinData(_without(files, twins.repeats, directory), None, note)
    write_lines(directory / "twins", map(str, np.flatnonzero(twins.involved) + 1))
    return TwinData(files, directory / "twins", note)


def with_held_out(files: RecipeFiles, folds: int, most: int, directory: Path) -> RecipeFiles:
    """The files with held-out training pairs as development data, see hold_out. Raises SmtError.

    1 / `folds` of the training pairs are held out, but at most `most`.
    """
    learned, development = hold_out(files.training, folds, most, directory)
    return files._replace(training=learned, development=development, held_out_of=files.training)


def of_one_spelling(data: CleanedData, directory: Path) -> CleanedData:
    """The data without training pairs whose target has one of the rarer spellings, and a note about them.

    Raises FormatError or OSError.
    """
    training = data.files.training
    source, target = (list(read_lines(path)) for path in (training.source, training.target))
    with stage("looking for other spellings"):
        others = written_otherwise(source, target)
    if not others.any():
        return data
    example = target[int(np.argmax(others))]
    note = (
        f"{others.sum():,} of {others.size:,} training pairs are left out: their target has another spelling than most "
        f"or is in another language, such as {excerpt(example)}; varieties: all in the recipe keeps them"
    )
    log.warning("%s", note)
    directory.mkdir(parents=True, exist_ok=True)
    files = _without(data.files, others, directory)
    return CleanedData(files, [*data.notes, note], int((~others).sum()))


def _without(files: RecipeFiles, left_out: np.ndarray, directory: Path) -> RecipeFiles:
    """The files without the training pairs that are `left_out` (bool[N])."""

    def copy(path: Path, name: str) -> Path:
        write_lines(directory / f"training.{name}", compress(read_lines(path), ~left_out))
        return directory / f"training.{name}"

    training = files.training
    alignment = copy(training.alignment, "alignment") if training.alignment else None
    others = BitextFiles(copy(training.source, "source"), [copy(training.target, "target")], alignment)
    return files._replace(training=others)
