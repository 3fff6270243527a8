"""The files of a training that its report tells of: settings, curves, weights and translations of its iterations."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import check_regular, read_lines
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import ModelDescription, open_description
from phrasebeam.decoder.tables.model_files import MODEL, WORK_DIRECTORIES
from phrasebeam.training.common.kept_translations import kept_translations
from phrasebeam.training.common.work import FILE, BegunWork

CURVE = "curve.csv"
RECIPE = "recipe"  # the directory of `train` in its model
NUMBER = "iteration"  # the column of a curve that numbers its rows
Row = dict[str, float | None]  # a number by column; None where there is none


class Curve(NamedTuple):
    """The iterations of the runs of a training, one of these after the other."""

    name: str  # of the directory, within the work
    runs: dict[str, list[Row]]  # rows by run, whose name is "" where there is one alone


class RunParts(NamedTuple):
    """Kept parts of one run, by iteration."""

    name: str  # of its directory, within the work
    weights: dict[int, Weights]  # dense ones, by iteration
    translations: dict[int, list[str]]  # of the development set, by iteration


class TrainingWork(NamedTuple):
    """The work of a trainer."""

    directory: Path
    begun: BegunWork
    curves: list[Curve]
    runs: list[RunParts]


class RunDirectory(NamedTuple):
    """A training directory."""

    directory: Path
    description: ModelDescription | None  # of the model that was written, if it was
    works: list[TrainingWork]
    recipe: "RecipeScores"  # of `train`


class RecipeScores(NamedTuple):
    """What the report of a recipe says of its stages; nothing where there was none."""

    tables: list[list[list[str]]]  # rows of cells, the header first
    notes: list[str]


def find_training(directory: Path) -> RunDirectory:
    """The training in a directory that a trainer wrote, or in its work directory. Raises SmtError without one."""
    check_regular(directory)
    places = [directory, *(directory / name for name in WORK_DIRECTORIES), *_stage_works(directory)]
    works = [_work(place) for place in places if (place / FILE).is_file()]
    description = open_description(directory, is_verified=False) if (directory / MODEL).is_file() else None
    if not works and description is None:
        raise ConfigError(f"{directory}: no training; expected what tune, train or a train- command wrote to --output")
    return RunDirectory(directory, description, works, _recipe(directory / RECIPE / "report.md"))


def _stage_works(directory: Path) -> list[Path]:
    """The work directories of a recipe's stages, which may lie deeper, where a stage tries several ways."""
    return sorted(path.parent for path in (directory / RECIPE / "stages").rglob(FILE))


def _recipe(report: Path) -> RecipeScores:
    """What the report of a recipe, which it writes as Markdown, has in tables and lists."""
    found = RecipeScores([], [])
    lines = list(read_lines(report)) if report.is_file() else []
    for line, before in zip(lines, ["", *lines]):
        if line.startswith("| ---"):
            continue
        if line.startswith("| "):
            if not before.startswith("|"):
                found.tables.append([])
            found.tables[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif line.startswith("- "):
            found.notes.append(line.removeprefix("- ").strip())
    return found


def _work(directory: Path) -> TrainingWork:
    begun = load_config(directory / FILE, BegunWork)
    curves = [_curve(path, directory) for path in sorted(directory.rglob(CURVE))]
    runs = [_run(folder, directory) for folder in _run_folders(directory)]
    return TrainingWork(directory, begun, curves, [run for run in runs if run.weights or run.translations])


def _run_folders(directory: Path) -> Iterator[Path]:
    yield directory
    yield from sorted(path for path in directory.iterdir() if path.is_dir() and path.name != "lists")


def _run(folder: Path, work: Path) -> RunParts:
    weights = {}
    for path in sorted(folder.glob("weights.*.yaml")):
        number = path.name.split(".")[1]
        if number.isdigit():
            weights[int(number)] = load_config(path, Weights)
    return RunParts(_name(folder, work), weights, kept_translations(folder))


def _curve(path: Path, work: Path) -> Curve:
    runs: dict[str, list[Row]] = {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        try:
            if NUMBER not in (rows.fieldnames or ()):
                raise ValueError(f"no column {NUMBER}")
            for row in rows:
                run = row.pop("run", "")
                runs.setdefault(run, []).append({name: _number(value) for name, value in row.items()})
        except (ValueError, TypeError, csv.Error) as error:
            message = f"not as it was written ({excerpt(str(error))}); a training that goes on writes it again"
            raise FormatError(path, message, rows.line_num or None) from None
    return Curve(_name(path.parent, work), runs)


def _number(value: str | None) -> float | None:
    """The number in a cell; None where it is empty or not finite. Raises ValueError or TypeError if it is none."""
    number = float(value) if value else math.nan
    return number if math.isfinite(number) else None


def _name(folder: Path, work: Path) -> str:
    return "" if folder == work else str(folder.relative_to(work))
